// The command line: names, flags and help are here; the code of each command is in its own file, loaded when the command runs.

import { Command, Option } from "commander";
import { VERSION } from "../protocol/version.ts";
import { claimBuild } from "./build-in-use.ts";
import { addAdminCommands } from "./register/admin-commands.ts";
import { addAgentCommands, addApprovalCommands } from "./register/agent-commands.ts";
import { addDeviceCommands } from "./register/device-commands.ts";
import { addFileCommands } from "./register/file-commands.ts";
import { formatHelp } from "./register/help-layout.ts";
import { addStartCommands } from "./register/start-commands.ts";
import { addIntegrationCommands, addTimeCommands } from "./register/time-commands.ts";
import { explainError } from "./register/unknown-command.ts";

/** Flags of a command and its parents. Each command declares its own type; the definitions below make commander's values fit it. */
type Flags = Record<string, never>;
type CommandFunction = (flags: Flags, args: string[]) => Promise<number | void>;

/** How long a finished command waits for its connections to close. */
const CLOSE_MS = 300;

const program = new Command("gsv")
  .version(VERSION, "-V, --version", "print the version")
  .description("AI agents that work on your machines.")
  .helpCommand(false)
  .helpOption("-h, --help", "explain a command")
  .showSuggestionAfterError(false)
  .configureHelp({ formatHelp })
  .configureOutput({ outputError: (text, write) => write(explainError(program, text, process.argv.slice(2))) })
  .addOption(
    new Option("--url <url>", "gateway address (default: gateway.url in the config file, else ws://localhost:8787/ws)").env("GSV_URL"),
  )
  .option("-u, --user <name>", "log in as this user")
  .option(
    "-p, --password [password]",
    "log in with a password; without a value or with -, prompt for it or read it from standard input (other users can see command lines)",
  )
  .addOption(new Option("-t, --token <token>", "log in with a token").env("GSV_TOKEN"))
  .option("--json", "print results as JSON");

program.commandsGroup("Start");
addStartCommands(program, exitAfter, keepRunning);
program.commandsGroup("Chat and agents");
addAgentCommands(program, exitAfter);
program.commandsGroup("Approvals");
addApprovalCommands(program, exitAfter);
program.commandsGroup("Machines");
addDeviceCommands(program, exitAfter, keepRunning);
program.commandsGroup("Files");
addFileCommands(program, exitAfter);
program.commandsGroup("Schedules and notifications");
addTimeCommands(program, exitAfter);
program.commandsGroup("Models and integrations");
addIntegrationCommands(program, exitAfter);
program.commandsGroup("Administration");
addAdminCommands(program, exitAfter);
program.commandsGroup("Advanced");

program
  .command("call <syscall> [json]")
  .description("make a syscall with JSON arguments")
  .action(exitAfter(async (flags, args) => (await import("./commands/call.ts")).call(flags, args)));

program
  .command("completion [shell]")
  .description("complete gsv with Tab in bash, zsh or fish")
  .action(exitAfter(async (_, args) => (await import("./commands/completion.ts")).completion(args)));
program
  .command("help [name...]")
  .description("explain a command or a syscall")
  .action(exitAfter(async (_, args) => (await import("./commands/help.ts")).help(program, args)));

program
  .command("version")
  .description("print the version")
  .action(exitAfter(async () => (await import("./terminal/terminal.ts")).printText(VERSION)));

// `gsv token list | head` closes the pipe early, which is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

claimBuild(import.meta.url);
if (process.argv.length <= 2) program.outputHelp();
else if (process.argv[2] === "__complete") await completeWords(process.argv.slice(3));
else await program.parseAsync([...process.argv.slice(0, 2), ...insertPasswordDash(process.argv.slice(2))]);

/** For the scripts of `gsv completion`: options among the words are not ours, so commander does not see them. */
async function completeWords([how, ...words]: readonly string[]): Promise<void> {
  const [{ complete }, { splitLine }, { refreshNames }] = await Promise.all([
    import("./complete/complete.ts"),
    import("./complete/line.ts"),
    import("./complete/names.ts"),
  ]);
  await (how === "--refresh" ? refreshNames() : complete(program, how === "--line" ? splitLine(words[0] ?? "") : words));
  process.stdout.write("", () => process.exit());
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
