// The commands to start with: the gateway, logging in, and checking on both.

import type { Command } from "commander";
import type { CommandAction } from "./agent-commands.ts";
import { addTokenCommands } from "./admin-commands.ts";

export function addStartCommands(program: Command, exitAfter: CommandAction, keepRunning: CommandAction): void {
  program
    .command("up")
    .description("run the gateway on this machine")
    .option("--home <dir>", "data directory (default: GSV_HOME, else ~/.gsv)")
    .option("--port <number>", "port to listen on (default: GSV_PORT, else 8787)")
    .option("--host <address>", "address to listen on (default: GSV_HOST, else 127.0.0.1)")
    .option("--allow-remote", "accept connections from other machines")
    .option("--origin <origin...>", "other addresses at which clients reach the gateway, such as https://gsv.example.com")
    .option("--trust-proxy <address...>", "reverse proxies whose X-Forwarded-For header is trusted")
    .option("--tls-cert <file>", "TLS certificate (PEM)")
    .option("--tls-key <file>", "TLS private key (PEM)")
    .option("--log-level <level>", "debug, info, warn or error (default: GSV_LOG_LEVEL, else info)")
    .option("--log-stdout", "log to standard output instead of a file in the data directory")
    .option(
      "--service [action]",
      "install and start a user service with these options, or manage it: status, logs, stop, start, restart, uninstall",
    )
    .action(keepRunning(async (flags) => (await import("../commands/up.ts")).up(flags)));
  addAuthCommands(program, exitAfter);
  program
    .command("status")
    .description("show gateway and login status")
    .action(exitAfter(async (flags) => (await import("../commands/status.ts")).status(flags)));
  program
    .command("open [place...]")
    .description("open the desktop in a browser")
    .option("--print", "only print the address")
    .action(exitAfter(async (flags, args) => (await import("../commands/open.ts")).open(flags, args)));
  program
    .command("doctor")
    .description("check for common problems and suggest fixes")
    .option("--model", "also send the model a short test message")
    .action(exitAfter(async (flags) => (await import("../commands/doctor.ts")).doctor(flags)));
  const command = program.command("command").description("install gsv as a command of your user");
  for (const [action, does] of [
    ["install", "write a small gsv command that runs this program"],
    ["status", "show where the command is and what it runs"],
    ["remove", "delete the command; the program stays"],
  ] as const)
    command
      .command(action)
      .description(does)
      .action(exitAfter(async (flags) => (await import("../commands/command.ts")).controlCommand(flags, action)));
}

function addAuthCommands(program: Command, exitAfter: CommandAction): void {
  const auth = program.command("auth").description("set up a gateway, log in, log out");
  auth
    .command("setup")
    .description("create the first user of a new gateway; prompts for missing values")
    .option("--username <name>", "your user name")
    .option("--new-password <password>", "your password; - reads it from standard input")
    .option("--root-password <password>", "root's password (default: the same as yours); - reads it from standard input")
    .option("--timezone <zone>", "time zone, such as Europe/Berlin (default: this machine's)")
    .option("--ai-provider <provider>", "AI provider, such as anthropic or openai")
    .option("--ai-model <model>", "name of a model of that provider")
    .option("--ai-api-key <key>", "API key for that provider; - reads it from standard input")
    .option("--node-id <device>", "also create a token for this machine, which must connect within an hour")
    .option("--node-label <label>", "label of that token")
    .option("--node-expires-at <time>", "when that token expires: 90d or 2027-01-31 (default: after a year without use)")
    .option("--code <code>", "setup code that the gateway printed; required if other machines can reach it")
    .action(exitAfter(async (flags) => (await import("../commands/auth.ts")).setup(flags)));
  auth
    .command("login")
    .description("log in and store the session")
    .option("--username <name>", "same as --user")
    .option("--ttl-hours <hours>", "how many hours the session lasts", "8")
    .action(exitAfter(async (flags) => (await import("../commands/auth.ts")).login(flags)));
  auth
    .command("logout")
    .description("revoke the session and delete it from this machine")
    .action(exitAfter(async (flags) => (await import("../commands/auth.ts")).logout(flags)));
  addTokenCommands(auth, exitAfter);
}
