// The command line: names, flags and help are here; the code of each command is in its own file, loaded when the command runs.

import { Command, Option } from "commander";
import { VERSION } from "../protocol/version.ts";
import { agentCommands } from "./register/agent-commands.ts";
import { claimBuild } from "./build-in-use.ts";
import { deviceCommands } from "./register/device-commands.ts";
import { peopleCommands } from "./register/people-commands.ts";

/** Flags of a command and its parents. Each command declares its own type; the definitions below make commander's values fit it. */
type Flags = Record<string, never>;
type Run = (flags: Flags, args: string[]) => Promise<number | void>;

/** How long a finished command waits for its connections to close. */
const CLOSE_MS = 300;

const program = new Command("gsv")
  .version(VERSION)
  .description("One intelligence across your machines.")
  .helpCommand(false)
  .showSuggestionAfterError()
  .configureHelp({ showGlobalOptions: true })
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "gsv: ")) })
  .addOption(new Option("--url <url>", "the gateway; else gateway.url of the configuration, else ws://localhost:8787/ws").env("GSV_URL"))
  .option("-u, --user <name>", "log in as this user")
  .option(
    "-p, --password [password]",
    "log in by password; alone or as - it is asked for or read from standard input (others on this machine can see a command line)",
  )
  .addOption(new Option("-t, --token <token>", "log in by token").env("GSV_TOKEN"))
  .option("--json", "print results as JSON")
  .addHelpText(
    "after",
    "\nEvery - in place of a secret takes one line of standard input, in the order: login password, current, new, root's, API key." +
      "\nExit codes: 0 done, 1 failed or refused, 3 no gateway reachable, 130 cancelled.",
  );

program
  .command("up")
  .description("run the gateway")
  .option("--home <dir>", "data directory (GSV_HOME, else ~/.gsv)")
  .option("--port <number>", "port (GSV_PORT, else 8787)")
  .option("--host <address>", "address to listen on (GSV_HOST, else 127.0.0.1)")
  .option("--allow-remote", "listen beyond this machine")
  .option("--origin <origin...>", "further addresses the gateway is reached at, such as https://gsv.example.com")
  .option("--trust-proxy <address...>", "reverse proxies whose X-Forwarded-For is believed")
  .option("--tls-cert <file>", "certificate in PEM")
  .option("--tls-key <file>", "its key in PEM")
  .option("--log-level <level>", "debug, info, warn or error (GSV_LOG_LEVEL, else info)")
  .option("--log-stdout", "log to standard output instead of the data directory")
  .option(
    "--service [action]",
    "keep it running as a service of your user, with the flags given here; or one of: status, logs, stop, start, restart, uninstall",
  )
  .action(keepRunning(async (flags) => (await import("./commands/up.ts")).up(flags)));

program
  .command("status")
  .description("say whether the gateway is up and who you are to it")
  .action(exitAfter(async (flags) => (await import("./commands/status.ts")).status(flags)));

program
  .command("doctor")
  .description("look for what commonly goes wrong and say what to do")
  .option("--model", "also ask the model a tiny question")
  .action(exitAfter(async (flags) => (await import("./commands/doctor.ts")).doctor(flags)));

agentCommands(program, exitAfter);

const auth = program.command("auth").description("set up, log in, log out");
auth
  .command("setup")
  .description("create the first user of a fresh gateway; asks for what is missing")
  .option("--username <name>", "your user name")
  .option("--new-password <password>", "your password; - reads it from standard input")
  .option("--root-password <password>", "root's password, else the same; - reads it from standard input")
  .option("--timezone <zone>", "such as Europe/Berlin, else this machine's")
  .option("--ai-provider <provider>", "such as anthropic or openai")
  .option("--ai-model <model>", "model of that provider")
  .option("--ai-api-key <key>", "its API key; - reads it from standard input")
  .option("--node-id <device>", "also make a token for this device, which must connect within an hour")
  .option("--node-label <label>", "label of that token")
  .option("--node-expires-at <time>", "its end: 90d or 2027-01-31; else none for as long as it is used")
  .option("--code <code>", "the setup code the gateway printed, where others can reach it")
  .action(exitAfter(async (flags) => (await import("./commands/auth.ts")).setup(flags)));
auth
  .command("login")
  .description("log in and stay logged in for some hours")
  .option("--username <name>", "the same as --user")
  .option("--ttl-hours <hours>", "how long to stay logged in", "8")
  .action(exitAfter(async (flags) => (await import("./commands/auth.ts")).login(flags)));
auth
  .command("logout")
  .description("revoke the session and forget it")
  .action(exitAfter(async (flags) => (await import("./commands/auth.ts")).logout(flags)));
tokenCommands(auth);

const config = program
  .command("config")
  .description("read and write configuration")
  .option("--local", "this CLI's own file instead of the gateway's configuration");
config
  .command("get [key]")
  .description("one value, or everything below a key")
  .option("--reveal", "show secrets")
  .action(exitAfter(async (flags, args) => (await import("./commands/config.ts")).configGet(flags, args)));
config
  .command("set <key> [value]")
  .description("write a value; without one or with - it is asked for or read from standard input")
  .action(exitAfter(async (flags, args) => (await import("./commands/config.ts")).configSet(flags, args)));

const ai = program.command("ai").description("the models that answer");
ai.command("check")
  .description("try a model: the one that is set for you, or one with other values")
  .option("--provider <provider>", "such as anthropic, openai or ollama")
  .option("--model <model>", "model of that provider; else the one that is set, or one it has")
  .option("--api-key [key]", "its API key; alone or as - it is asked for or read from standard input")
  .option("--base-url <url>", "where a server of your own is, such as http://127.0.0.1:8080/v1")
  .action(exitAfter(async (flags) => (await import("./commands/ai-check.ts")).aiCheck(flags)));

tokenCommands(program);

peopleCommands(program, exitAfter);

program
  .command("ls [path]")
  .description("list a directory on the gateway, or on the target that a path names, as laptop:/etc; so for cat, write, rm and search")
  .action(exitAfter(async (flags, args) => (await import("./commands/ls.ts")).ls(flags, args)));
program
  .command("cat <path>")
  .description("print a file as it is")
  .action(exitAfter(async (flags, args) => (await import("./commands/cat.ts")).cat(flags, args)));
program
  .command("write <path> [file]")
  .description("make or replace a file with the content of a file here; without one or with - it is read from standard input")
  .action(exitAfter(async (flags, args) => (await import("./commands/write.ts")).write(flags, args)));
program
  .command("rm <path...>")
  .description("delete files, and directories with all below them")
  .option("-r, --recursive", "directories too, where there is no terminal to ask at")
  .option("-f, --force", "do not ask before deleting a directory")
  .action(exitAfter(async (flags, args) => (await import("./commands/rm.ts")).rm(flags, args)));
program
  .command("cp <from...>")
  .usage("[options] <from...> <to>")
  .description(
    "copy files of any kind and size between this machine and targets: gsv:PATH is on the gateway, laptop:PATH on a device, a plain path here",
  )
  .option("-r, --recursive", "directories too, with all below them")
  .option("-n, --no-clobber", "leave files that are there as they are")
  .addHelpText(
    "after",
    "\nA copy is exact and takes its place when all of it is there; one that was cut off goes on where it stopped when you copy it again." +
      "\nWith a / at the end, <to> is a directory, made if need be. Links, and for a target empty directories, are left out with a remark." +
      "\nA new file keeps its permission bits; owners and times are not copied." +
      "\nExamples: gsv cp notes.md gsv:~/   gsv cp -r gsv:~/knowledge .   gsv cp laptop:/etc/hosts gsv:hosts",
  )
  .action(exitAfter(async (flags, args) => (await import("./commands/cp.ts")).cp(flags, args)));
program
  .command("search <text> [path]")
  .description("find lines that hold a text, literally, in files at or below a path")
  .option("--include <glob>", "only in files of such names, as *.md")
  .action(exitAfter(async (flags, args) => (await import("./commands/search.ts")).search(flags, args)));

const repo = program.command("repo").description("git repositories that the gateway keeps; a name without an owner is your own");
repo
  .command("list")
  .description("list what you can read")
  .option("--owner <name>", "only one user's")
  .action(exitAfter(async (flags) => (await import("./commands/repo.ts")).repoList(flags)));
repo
  .command("create <name>")
  .description("create a repository and print how to clone it")
  .option("--description <text>", "what it is for")
  .option("--public", "everybody may read it, also without logging in")
  .action(exitAfter(async (flags, args) => (await import("./commands/repo.ts")).repoCreate(flags, args)));
repo
  .command("log <repo>")
  .description("the commits of a branch, newest first")
  .option("--ref <ref>", "a branch, tag or commit; else main")
  .option("--limit <number>", "how many, at most 100; else 30")
  .action(exitAfter(async (flags, args) => (await import("./commands/repo.ts")).repoLog(flags, args)));
repo
  .command("diff <repo> <commit>")
  .description("what a commit changed")
  .action(exitAfter(async (flags, args) => (await import("./commands/repo.ts")).repoDiff(flags, args)));

const workspace = program.command("workspace").description("places to work in that outlive a process");
workspace
  .command("list")
  .description("list your workspaces")
  .option("--all", "archived ones too")
  .action(exitAfter(async (flags) => (await import("./commands/workspace.ts")).workspaceList(flags)));
workspace
  .command("create [label]")
  .description("make a workspace and print its id")
  .action(exitAfter(async (flags, args) => (await import("./commands/workspace.ts")).workspaceCreate(flags, args)));

program
  .command("shell")
  .description("a terminal on a device, or a prompt on the gateway; with standard input from a pipe, runs it as a script")
  .option("--target <name>", "where: gsv, or a device such as laptop", "gsv")
  .addHelpText(
    "after",
    "\nOn a device it is your own shell there, at a terminal: every key goes to it. ~. at the beginning of a line leaves it running." +
      "\nOn the gateway, Tab completes commands and paths. Ctrl-C interrupts a command, Ctrl-D ends its input; at an empty prompt Ctrl-D or exit leaves." +
      "\nThe working directory and variables last from line to line; functions, aliases and set options do not." +
      "\nHistory is kept beside the configuration file, without lines that begin with a space.",
  )
  .action(exitAfter(async (flags) => (await import("./commands/shell.ts")).shell(flags)));
program
  .command("run [command...]")
  .description("run a command on the gateway or a device and exit as it does; without one, a script from standard input")
  .usage("[options] -- COMMAND [ARGUMENT...]")
  .option("--target <name>", "where: gsv, or a device such as laptop", "gsv")
  .option("--cwd <dir>", "working directory there, else the home, or the workspace of a device")
  .option("--timeout <seconds>", "end it after this long (124); on the gateway never later than config/shell/timeout_ms")
  .option("--tty", "at a terminal, for programs that draw on the screen; on a device")
  .showHelpAfterError("Put -- before the command, so that its options are its own: gsv run -- ls -l")
  .addHelpText(
    "after",
    "\nOne argument is a line for the shell, as in gsv run -- 'ls | wc -l'; several are a command and its arguments, quoted as needed." +
      "\nWhat the command reads comes from standard input. Ctrl-C interrupts it (130).",
  )
  .action(exitAfter(async (flags, args) => (await import("./commands/run.ts")).run(flags, args)));

const jobs = program
  .command("jobs")
  .description("your commands that run, or ended and were not looked at since, on the gateway and all devices that are online")
  .option("--target <name>", "only there")
  .action(exitAfter(async (flags) => (await import("./commands/jobs.ts")).jobs(flags)));
jobs
  .command("attach <id>")
  .description("go on with one: follow its output, or take its terminal; the beginning of its id is enough")
  .action(exitAfter(async (flags, args) => (await import("./commands/jobs.ts")).jobsAttach(flags, args)));
jobs
  .command("kill <id>")
  .description("send it a signal")
  .option("--signal <name>", "such as INT or KILL; else TERM, and HUP where it has a terminal")
  .action(exitAfter(async (flags, args) => (await import("./commands/jobs.ts")).jobsKill(flags, args)));

deviceCommands(program, exitAfter, keepRunning);

program
  .command("call <syscall> [json]")
  .description("call any syscall; the arguments are JSON, - or a pipe reads them from standard input")
  .action(exitAfter(async (flags, args) => (await import("./commands/call.ts")).call(flags, args)));

program
  .command("help [name...]")
  .description("explain a command or a syscall; help syscalls lists them")
  .action(exitAfter(async (_, args) => (await import("./commands/help.ts")).help(program, args)));

program
  .command("version")
  .description("print the version")
  .action(exitAfter(async () => (await import("./terminal/terminal.ts")).say(VERSION)));

// `gsv token list | head` closes the pipe early, which is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

claimBuild(import.meta.url);
if (process.argv.length <= 2) program.outputHelp();
else await program.parseAsync([...process.argv.slice(0, 2), ...insertPasswordDash(process.argv.slice(2))]);

function tokenCommands(parent: Command): void {
  const token = parent.command("token").description("tokens for devices, services and scripts");
  token
    .command("create")
    .description("issue a token and print it, alone, on standard output; with --device also the line to paste on that machine")
    .option("--kind <kind>", "node, service or user; node where --device is given, else user")
    .option("--device <id>", "the only device that may use it")
    .option("--label <text>", "what it is for")
    .option("--expires <time>", "90d, 8h, 2027-01-31 or never; else after a year in which nobody used it")
    .option("--within <time>", "how soon it must be used for the first time, as 7d, or never; else an hour with --device")
    .option("--uid <uid>", "for another user, as root")
    .addOption(new Option("--expires-at <time>").hideHelp())
    .action(exitAfter(async (flags) => (await import("./commands/token.ts")).tokenCreate(flags)));
  token
    .command("list")
    .description("list valid tokens")
    .option("--all", "ended and revoked ones too")
    .option("--uid <uid>", "of another user, as root")
    .action(exitAfter(async (flags) => (await import("./commands/token.ts")).tokenList(flags)));
  token
    .command("revoke <id>")
    .description("end a token and the connections that use it")
    .option("--reason <text>", "kept with the token")
    .option("--uid <uid>", "of another user, as root")
    .action(exitAfter(async (flags, args) => (await import("./commands/token.ts")).tokenRevoke(flags, args)));
}

/** Makes an action that exits the program when it is done. */
function exitAfter(run: Run): (this: Command) => Promise<void> {
  const act = keepRunning(run);
  return async function (this: Command) {
    await act.call(this);
    // Connections close by themselves in a moment; the program does not wait for a peer that does not respond.
    setTimeout(() => process.stdout.write("", () => process.exit()), CLOSE_MS).unref();
  };
}

function keepRunning(run: Run): (this: Command) => Promise<void> {
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
