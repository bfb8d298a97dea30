// The commands about agents, with their flags and help; the code of each is in its own file, loaded when the command runs.

import type { Command } from "commander";

type Flags = Record<string, never>;
type Run = (flags: Flags, args: string[]) => Promise<number | void>;
/** Turns the function of a command into an action. */
export type CommandAction = (run: Run) => (this: Command) => Promise<void>;

const PROCESS = "which process, by the beginning of its id; else init, your first one";
const CONVERSATION = "which conversation, by id or title; else default";

export function agentCommands(program: Command, exitAfter: CommandAction): void {
  program
    .command("chat [message...]")
    .description("talk with an agent; with a message or a pipe, say it, print the answer and end")
    .option("--pid <process>", PROCESS)
    .option("--conversation <name>", CONVERSATION)
    .option("--new", "begin another conversation")
    .option("--title <text>", "what that one is called")
    .option("--verbose", "show results of tools and thoughts too")
    .option("--events", "one line of JSON for each event of the run")
    .option("--wait", "where a question comes up and there is no terminal to ask at, wait until it is answered elsewhere")
    .addHelpText(
      "after",
      "\nAt a terminal: Ctrl-C stops what it works on, Ctrl-D leaves, /help lists the rest. What is typed meanwhile waits its turn." +
        "\nWith a message, standard input from a pipe is added to it: cat notes.md | gsv chat summarize this" +
        "\nIn a pipe the answer is plain text. --json prints one object at the end, --events a line for each event." +
        "\nExit codes: 0 answered, 1 the run failed, 2 wrong usage, 4 a question waits (gsv approvals), 130 stopped.",
    )
    .action(exitAfter(async (flags, args) => (await import("../commands/chat.ts")).chat(flags, args)));
  procCommands(program, exitAfter);
  approvalCommands(program, exitAfter);
}

function procCommands(program: Command, exitAfter: CommandAction): void {
  const proc = program.command("proc").description("agent processes: what runs, what it said, what it used");
  proc
    .command("list")
    .description("list processes and what each is doing")
    .option("--uid <uid>", "of another user, as root")
    .action(exitAfter(async (flags) => (await import("../commands/proc.ts")).procList(flags)));
  proc
    .command("tree")
    .description("the same, each below the one that started it")
    .option("--uid <uid>", "of another user, as root")
    .action(exitAfter(async (flags) => (await import("../commands/proc.ts")).procTree(flags)));
  proc
    .command("spawn [prompt...]")
    .description("start a process and print its id; with a prompt it begins to work")
    .option("--profile <name>", "what it is made for (gsv call proc.profile.list)", "task")
    .option("--label <text>", "what it is called")
    .option("--prompt <text>", "the same as the prompt behind the command")
    .option("--parent <process>", "whose child it is; else init's")
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procSpawn(flags, args)));
  proc
    .command("send [message...]")
    .description("say something to a process and do not wait for the answer; without a message, standard input")
    .option("--pid <process>", PROCESS)
    .option("--conversation <name>", CONVERSATION)
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procSend(flags, args)));
  proc
    .command("history")
    .description("what was said, the newest last")
    .option("--pid <process>", PROCESS)
    .option("--conversation <name>", CONVERSATION)
    .option("--limit <number>", "how many messages; else 50")
    .option("--offset <number>", "from which on, counted from the oldest; below 0 from the newest")
    .action(exitAfter(async (flags) => (await import("../commands/proc.ts")).procHistory(flags)));
  proc
    .command("abort [process]")
    .description("end what a process is working on and what that waits for; what waits in the conversation is held")
    .option("--run <id>", "only that run, also one that waits")
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procAbort(flags, args)));
  proc
    .command("resume [process]")
    .description("let the messages have their turn that wait on hold since a run was ended")
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procResume(flags, args)));
  proc
    .command("kill <process>")
    .description("end whatever a process does and empty its conversations, which go to the archive; it stays in the list")
    .option("--no-archive", "archive nothing of it; a workspace it works in keeps what was said all the same")
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procKill(flags, args)));
  proc
    .command("reset [process]")
    .description("put all its conversations into the archive and begin anew")
    .option("--pid <process>", PROCESS)
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procReset(flags, args)));
  proc
    .command("usage [process]")
    .description("what a process has used of models, tools and time")
    .option("--days <number>", "of all your processes instead, day by day")
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procUsage(flags, args)));
  proc
    .command("context [process]")
    .description("what a process is told before a conversation, part by part, and how full the conversation is")
    .option("--conversation <name>", CONVERSATION)
    .option("--text", "the whole text instead")
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procContext(flags, args)));
}

function approvalCommands(program: Command, exitAfter: CommandAction): void {
  const approvals = program
    .command("approvals")
    .description("what agents ask you to allow, and what you have allowed beyond one call")
    .option("--whole", "show all of each, however long")
    .action(exitAfter(async (flags) => (await import("../commands/approvals.ts")).approvalsList(flags)));
  approvals
    .command("list")
    .description("the same as gsv approvals alone")
    .option("--whole", "show all of each, however long")
    .action(exitAfter(async (flags) => (await import("../commands/approvals.ts")).approvalsList(flags)));
  approvals
    .command("approve <id>")
    .description("let it happen once, exactly as it is shown; the beginning of the id is enough")
    .option("--day", "and exactly this again for 24 hours")
    .option("--scope <scope>", "wider: exact, folder (calls like it in that folder) or tool (calls like it anywhere there)")
    .option("--for <hours>", "for how long, such as 8h")
    .action(exitAfter(async (flags, args) => (await import("../commands/approvals.ts")).approvalsApprove(flags, args)));
  approvals
    .command("deny <id>")
    .description("refuse it")
    .option("--reason <text>", "which the agent is told")
    .action(exitAfter(async (flags, args) => (await import("../commands/approvals.ts")).approvalsDeny(flags, args)));
  approvals
    .command("revoke <grant>")
    .description("take back what was allowed beyond one call")
    .action(exitAfter(async (flags, args) => (await import("../commands/approvals.ts")).approvalsRevoke(flags, args)));
  approvals
    .command("history")
    .description("what was asked before, and what became of it")
    .option("--limit <number>", "how many; else 20")
    .action(exitAfter(async (flags) => (await import("../commands/approvals.ts")).approvalsHistory(flags)));
}
