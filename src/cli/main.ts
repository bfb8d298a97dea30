// The command line: names, flags and help are here; the code of each command is in its own file, loaded when the command runs.

import { Command, Option } from "commander";
import { VERSION } from "../protocol/version.ts";
import { addAgentCommands } from "./register/agent-commands.ts";
import { claimBuild } from "./build-in-use.ts";
import { addDeviceCommands } from "./register/device-commands.ts";
import { addPeopleCommands } from "./register/people-commands.ts";
import { addTimeCommands } from "./register/time-commands.ts";
import { explainUnknownCommand } from "./terminal/shell-command.ts";

/** Flags of a command and its parents. Each command declares its own type; the definitions below make commander's values fit it. */
type Flags = Record<string, never>;
type CommandFunction = (flags: Flags, args: string[]) => Promise<number | void>;

/** How long a finished command waits for its connections to close. */
const CLOSE_MS = 300;

const PATHS_HELP = "\nA path is on the gateway; laptop:PATH is on a device.";

const program = new Command("gsv")
  .version(VERSION)
  .description("One intelligence across your machines.")
  .helpCommand(false)
  .showSuggestionAfterError()
  .configureHelp({ showGlobalOptions: true })
  .configureOutput({ outputError: (text, write) => write(explainUnknownCommand(text.replace(/^error: /, "gsv: "))) })
  .addOption(
    new Option("--url <url>", "gateway address (default: gateway.url in the config file, else ws://localhost:8787/ws)").env("GSV_URL"),
  )
  .option("-u, --user <name>", "log in as this user")
  .option(
    "-p, --password [password]",
    "log in with a password; without a value or with -, prompt for it or read it from standard input (other users can see command lines)",
  )
  .addOption(new Option("-t, --token <token>", "log in with a token").env("GSV_TOKEN"))
  .option("--json", "print results as JSON")
  .addHelpText(
    "after",
    "\nA - in place of a secret reads one line of standard input. Several are read in this order: login password, current password," +
      "\nnew password, root password, API key." +
      "\nExit codes: 0 success, 1 failed or refused, 3 no gateway reachable, 130 cancelled.",
  );

program
  .command("up")
  .description("run the gateway")
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
  .action(keepRunning(async (flags) => (await import("./commands/up.ts")).up(flags)));

program
  .command("status")
  .description("show gateway and login status")
  .action(exitAfter(async (flags) => (await import("./commands/status.ts")).status(flags)));

program
  .command("doctor")
  .description("check for common problems and suggest fixes")
  .option("--model", "also send the model a short test message")
  .action(exitAfter(async (flags) => (await import("./commands/doctor.ts")).doctor(flags)));

addAgentCommands(program, exitAfter);
addTimeCommands(program, exitAfter);

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
  .option("--node-id <device>", "also create a token for this device, which must connect within an hour")
  .option("--node-label <label>", "label of the device token")
  .option("--node-expires-at <time>", "when the device token expires: 90d or 2027-01-31 (default: after a year without use)")
  .option("--code <code>", "setup code that the gateway printed; required if other machines can reach it")
  .action(exitAfter(async (flags) => (await import("./commands/auth.ts")).setup(flags)));
auth
  .command("login")
  .description("log in and store the session")
  .option("--username <name>", "same as --user")
  .option("--ttl-hours <hours>", "how many hours the session lasts", "8")
  .action(exitAfter(async (flags) => (await import("./commands/auth.ts")).login(flags)));
auth
  .command("logout")
  .description("revoke the session and delete it from this machine")
  .action(exitAfter(async (flags) => (await import("./commands/auth.ts")).logout(flags)));
addTokenCommands(auth);

const config = program
  .command("config")
  .description("read and write configuration")
  .option("--local", "use this CLI's config file instead of the gateway's configuration");
config
  .command("get [key]")
  .description("print a value, or all values below a key")
  .option("--reveal", "show secrets")
  .action(exitAfter(async (flags, args) => (await import("./commands/config.ts")).configGet(flags, args)));
config
  .command("set <key> [value]")
  .description("set a value; without one or with -, prompt for it or read it from standard input")
  .action(exitAfter(async (flags, args) => (await import("./commands/config.ts")).configSet(flags, args)));
config
  .command("unset <key>")
  .description("remove a value, so that its default counts again")
  .action(exitAfter(async (flags, args) => (await import("./commands/config.ts")).configUnset(flags, args)));

const ai = program.command("ai").description("test AI models");
ai.command("check")
  .description("test your configured model, or another provider, model, key or URL")
  .option("--provider <provider>", "provider, such as anthropic, openai or ollama")
  .option("--model <model>", "model (default: the configured one, else one that the provider has)")
  .option("--api-key [key]", "API key; without a value or with -, prompt for it or read it from standard input")
  .option("--base-url <url>", "URL of your own model server, such as http://127.0.0.1:8080/v1")
  .action(exitAfter(async (flags) => (await import("./commands/ai-check.ts")).aiCheck(flags)));

addTokenCommands(program);

addPeopleCommands(program, exitAfter);

program
  .command("ls [path]")
  .description("list a directory on the gateway or a device")
  .addHelpText("after", PATHS_HELP)
  .action(exitAfter(async (flags, args) => (await import("./commands/ls.ts")).ls(flags, args)));
program
  .command("cat <path>")
  .description("print a file")
  .addHelpText("after", PATHS_HELP)
  .action(exitAfter(async (flags, args) => (await import("./commands/cat.ts")).cat(flags, args)));
program
  .command("write <path> [file]")
  .description("create or replace a file from a local file; without one or with -, from standard input")
  .addHelpText("after", PATHS_HELP)
  .action(exitAfter(async (flags, args) => (await import("./commands/write.ts")).write(flags, args)));
program
  .command("rm <path...>")
  .description("delete files and directories")
  .option("-r, --recursive", "required for directories if there is no terminal to ask at")
  .option("-f, --force", "do not ask before deleting a directory")
  .addHelpText("after", PATHS_HELP)
  .action(exitAfter(async (flags, args) => (await import("./commands/rm.ts")).rm(flags, args)));
program
  .command("cp <from...>")
  .usage("[options] <from...> <to>")
  .description("copy files between this machine, the gateway (gsv:PATH) and devices (laptop:PATH)")
  .option("-r, --recursive", "copy directories with everything in them")
  .option("-n, --no-clobber", "do not overwrite existing files")
  .addHelpText(
    "after",
    "\nA file replaces its destination only when the copy is complete. To resume an interrupted copy, run the command again." +
      "\nA <to> that ends in / is a directory and is created if it does not exist. Links are skipped with a note; so are empty" +
      "\ndirectories, unless they are copied to this machine." +
      "\nNew files keep their permission bits; owners and times are not copied." +
      "\nExamples: gsv cp notes.md gsv:~/   gsv cp -r gsv:~/knowledge .   gsv cp laptop:/etc/hosts gsv:hosts",
  )
  .action(exitAfter(async (flags, args) => (await import("./commands/cp.ts")).cp(flags, args)));
program
  .command("search <text> [path]")
  .description("search files at or below a path for lines that contain a literal text")
  .option("--include <glob>", "only search files whose name matches, such as *.md")
  .addHelpText("after", PATHS_HELP)
  .action(exitAfter(async (flags, args) => (await import("./commands/search.ts")).search(flags, args)));

const repo = program.command("repo").description("manage git repositories on the gateway; a name without an owner is one of yours");
repo
  .command("list")
  .description("list the repositories that you can read")
  .option("--owner <name>", "only those of one user")
  .action(exitAfter(async (flags) => (await import("./commands/repo.ts")).repoList(flags)));
repo
  .command("create <name>")
  .description("create a repository and print how to clone it")
  .option("--description <text>", "description of the repository")
  .option("--public", "let everybody read it, even without logging in")
  .action(exitAfter(async (flags, args) => (await import("./commands/repo.ts")).repoCreate(flags, args)));
repo
  .command("log <repo>")
  .description("show the commits of a branch, newest first")
  .option("--ref <ref>", "branch, tag or commit (default: main)")
  .option("--limit <number>", "number of commits, at most 100 (default: 30)")
  .action(exitAfter(async (flags, args) => (await import("./commands/repo.ts")).repoLog(flags, args)));
repo
  .command("diff <repo> <commit>")
  .description("show what a commit changed")
  .action(exitAfter(async (flags, args) => (await import("./commands/repo.ts")).repoDiff(flags, args)));

const workspace = program.command("workspace").description("manage workspaces: directories that outlive a process");
workspace
  .command("list")
  .description("list your workspaces")
  .option("--all", "include archived workspaces")
  .action(exitAfter(async (flags) => (await import("./commands/workspace.ts")).workspaceList(flags)));
workspace
  .command("create [label]")
  .description("create a workspace and print its id")
  .action(exitAfter(async (flags, args) => (await import("./commands/workspace.ts")).workspaceCreate(flags, args)));

program
  .command("shell")
  .description("open a terminal on a device, or a prompt on the gateway; piped input runs as a script")
  .option("--target <name>", "where to run it: gsv, or a device such as laptop", "gsv")
  .addHelpText(
    "after",
    "\nOn a device, your own shell runs in a terminal and receives every key. Type ~. at the start of a line to leave it running." +
      "\nOn the gateway, Tab completes commands and paths. Ctrl-C interrupts a command, Ctrl-D ends its input. At an empty prompt," +
      "\nCtrl-D or exit leaves." +
      "\nThe working directory and variables are kept between lines; functions, aliases and set options are not." +
      "\nThe history is stored next to the config file. Lines that start with a space are not saved.",
  )
  .action(exitAfter(async (flags) => (await import("./commands/shell.ts")).shell(flags)));
program
  .command("run [command...]")
  .description("run a command on the gateway or a device and exit with its code; without one, run a script from standard input")
  .usage("[options] -- COMMAND [ARGUMENT...]")
  .option("--target <name>", "where to run it: gsv, or a device such as laptop", "gsv")
  .option("--cwd <dir>", "working directory there (default: your home, or the workspace of the device)")
  .option("--timeout <seconds>", "stop it after this time (exit code 124); on the gateway, config/shell/timeout_ms is the maximum")
  .option("--tty", "run it in a terminal, for full-screen programs; devices only")
  .showHelpAfterError("Put -- before the command, so that gsv does not read its options: gsv run -- ls -l")
  .addHelpText(
    "after",
    "\nA single argument is a shell command line: gsv run -- 'ls | wc -l'. Several are a command and its arguments, quoted as needed." +
      "\nThe command reads standard input. Ctrl-C interrupts it (exit code 130).",
  )
  .action(exitAfter(async (flags, args) => (await import("./commands/run.ts")).run(flags, args)));

const jobs = program
  .command("jobs")
  .description("list running and recently finished commands on the gateway and all online devices")
  .option("--target <name>", "only jobs on this target")
  .action(exitAfter(async (flags) => (await import("./commands/jobs.ts")).jobsList(flags)));
jobs
  .command("attach <id>")
  .description("follow the output of a job, or take over its terminal; the start of its id is enough")
  .action(exitAfter(async (flags, args) => (await import("./commands/jobs.ts")).jobsAttach(flags, args)));
jobs
  .command("kill <id>")
  .description("send a signal to a job")
  .option("--signal <name>", "signal, such as INT or KILL (default: TERM, or HUP if it has a terminal)")
  .action(exitAfter(async (flags, args) => (await import("./commands/jobs.ts")).jobsKill(flags, args)));

addDeviceCommands(program, exitAfter, keepRunning);

program
  .command("call <syscall> [json]")
  .description("make any syscall with JSON arguments; - or a pipe reads them from standard input")
  .action(exitAfter(async (flags, args) => (await import("./commands/call.ts")).call(flags, args)));

program
  .command("help [name...]")
  .description("explain a command or syscall; help syscalls lists all syscalls")
  .action(exitAfter(async (_, args) => (await import("./commands/help.ts")).help(program, args)));

program
  .command("version")
  .description("print the version")
  .action(exitAfter(async () => (await import("./terminal/terminal.ts")).printText(VERSION)));

// `gsv token list | head` closes the pipe early, which is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

claimBuild(import.meta.url);
if (process.argv.length <= 2) program.outputHelp();
else await program.parseAsync([...process.argv.slice(0, 2), ...insertPasswordDash(process.argv.slice(2))]);

function addTokenCommands(parent: Command): void {
  const token = parent.command("token").description("manage access tokens for devices, services and scripts");
  token
    .command("create")
    .description("create a token and print it on standard output; with --device, also show the install command for that machine")
    .option("--kind <kind>", "node, service or user (default: node with --device, else user)")
    .option("--device <id>", "the only device that may use the token")
    .option("--label <text>", "label, to tell tokens apart")
    .option("--expires <time>", "90d, 8h, 2027-01-31 or never (default: after a year without use)")
    .option("--within <time>", "deadline for the first use, such as 7d, or never (default: never, or 1h with --device)")
    .option("--uid <uid>", "for another user (root only)")
    .addOption(new Option("--expires-at <time>").hideHelp())
    .action(exitAfter(async (flags) => (await import("./commands/token.ts")).tokenCreate(flags)));
  token
    .command("list")
    .description("list valid tokens")
    .option("--all", "include expired and revoked tokens")
    .option("--uid <uid>", "tokens of another user (root only)")
    .action(exitAfter(async (flags) => (await import("./commands/token.ts")).tokenList(flags)));
  token
    .command("revoke <id>")
    .description("revoke a token and close the connections that use it")
    .option("--reason <text>", "reason, stored with the token")
    .option("--uid <uid>", "tokens of another user (root only)")
    .action(exitAfter(async (flags, args) => (await import("./commands/token.ts")).tokenRevoke(flags, args)));
}

/** Makes an action that exits the program when it is done. */
function exitAfter(run: CommandFunction): (this: Command) => Promise<void> {
  const act = keepRunning(run);
  return async function (this: Command) {
    await act.call(this);
    // Connections close by themselves in a moment; the program does not wait for a peer that does not respond.
    setTimeout(() => process.stdout.write("", () => process.exit()), CLOSE_MS).unref();
  };
}

function keepRunning(run: CommandFunction): (this: Command) => Promise<void> {
  return async function (this: Command) {
    try {
      process.exitCode = (await run(this.optsWithGlobals<Flags>(), this.args)) ?? 0;
    } catch (error) {
      process.exitCode = (await import("./terminal/problem.ts")).printError(error);
    }
  };
}

/** In `gsv -p status` the next word is the command and not the password, so a - is inserted. */
function insertPasswordDash(args: readonly string[]): string[] {
  const names = new Set(program.commands.map((command) => command.name()));
  const first = args.findIndex(
    (arg, at) => names.has(arg) && /^(-p|--password)$/.test(args[at - 1] ?? "") && !args.slice(0, at).some((word) => names.has(word)),
  );
  return first === -1 ? [...args] : [...args.slice(0, first), "-", ...args.slice(first)];
}
