// The commands about agents, with their flags and help; the code of each is in its own file, loaded when the command runs.

import type { Command } from "commander";

type Flags = Record<string, never>;
type CommandFunction = (flags: Flags, args: string[]) => Promise<number | void>;
/** Turns the function of a command into an action. */
export type CommandAction = (run: CommandFunction) => (this: Command) => Promise<void>;

const PROCESS = "agent, by name or the start of its id (default: init, your personal agent)";
const CONVERSATION = 'conversation, by id or title (default: "default")';

export function addAgentCommands(program: Command, exitAfter: CommandAction): void {
  program
    .command("chat [message...]")
    .description("talk to an agent")
    .option("--pid <process>", PROCESS)
    .option("--conversation <name>", CONVERSATION)
    .option("--new", "start a new conversation")
    .option("--title <text>", "title of the new conversation")
    .option("--verbose", "also show tool results and reasoning")
    .option("--events", "print one line of JSON for each event of the run")
    .option("--wait", "if the agent asks something and there is no terminal, wait until it is answered elsewhere")
    .action(exitAfter(async (flags, args) => (await import("../commands/chat.ts")).chat(flags, args)));
  addProcCommands(program, exitAfter);
}

function addProcCommands(program: Command, exitAfter: CommandAction): void {
  const proc = program.command("proc").description("list, start, message and stop agents");
  proc
    .command("list")
    .description("list agents and what each is doing")
    .option("--uid <uid>", "agents of another user (root only)")
    .action(exitAfter(async (flags) => (await import("../commands/proc.ts")).procList(flags)));
  proc
    .command("tree")
    .description("show agents as a tree, each below the one that started it")
    .option("--uid <uid>", "agents of another user (root only)")
    .action(exitAfter(async (flags) => (await import("../commands/proc.ts")).procTree(flags)));
  proc
    .command("spawn [prompt...]")
    .description("start an agent and print its id; with a prompt, it starts working")
    .option("--profile <name>", "kind of agent (gsv call proc.profile.list lists them)", "task")
    .option("--label <text>", "name of the agent")
    .option("--prompt <text>", "same as the prompt argument")
    .option("--parent <process>", "agent that it belongs to (default: init)")
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procSpawn(flags, args)));
  proc
    .command("send [message...]")
    .description("send a message to an agent without waiting for the answer; without a message, send standard input")
    .option("--pid <process>", PROCESS)
    .option("--conversation <name>", CONVERSATION)
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procSend(flags, args)));
  proc
    .command("history")
    .description("show the messages of a conversation, newest last")
    .option("--pid <process>", PROCESS)
    .option("--conversation <name>", CONVERSATION)
    .option("--limit <number>", "number of messages (default: 50)")
    .option("--offset <number>", "first message, counted from the oldest; negative numbers count from the newest")
    .action(exitAfter(async (flags) => (await import("../commands/proc.ts")).procHistory(flags)));
  proc
    .command("abort [process]")
    .description("stop the current run of an agent and the calls it waits for; queued messages are put on hold")
    .option("--run <id>", "stop this run, which may still be queued")
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procAbort(flags, args)));
  proc
    .command("resume [process]")
    .description("resume messages that are on hold after an abort")
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procResume(flags, args)));
  proc
    .command("kill <process>")
    .description("end everything an agent does, and archive and empty its conversations; it stays in the list")
    .option("--no-archive", "do not archive its conversations; its workspace still keeps a checkpoint")
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procKill(flags, args)));
  proc
    .command("reset [process]")
    .description("archive all conversations of an agent and start over")
    .option("--pid <process>", PROCESS)
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procReset(flags, args)));
  proc
    .command("usage [process]")
    .description("show model calls, tool calls, tokens, cost and time that an agent has used")
    .option("--days <number>", "show the daily usage of all your agents instead")
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procUsage(flags, args)));
  proc
    .command("context [process]")
    .description("show what an agent's model is told and how full the conversation is")
    .option("--conversation <name>", CONVERSATION)
    .option("--text", "print the full text instead")
    .action(exitAfter(async (flags, args) => (await import("../commands/proc.ts")).procContext(flags, args)));
}

export function addApprovalCommands(program: Command, exitAfter: CommandAction): void {
  const approvals = program
    .command("approvals")
    .description("review what agents ask to do, and what you have allowed")
    .option("--whole", "show long calls in full")
    .action(exitAfter(async (flags) => (await import("../commands/approvals.ts")).approvalsList(flags)));
  approvals
    .command("list")
    .description("same as gsv approvals")
    .option("--whole", "show long calls in full")
    .action(exitAfter(async (flags) => (await import("../commands/approvals.ts")).approvalsList(flags)));
  approvals
    .command("approve <id>")
    .description("allow a call once, exactly as shown; the start of its id is enough")
    .option("--day", "also allow exactly this call for 24 hours")
    .option(
      "--scope <scope>",
      "what to allow from now on: exact, folder (the same tool in that folder) or tool (the same tool on that target)",
    )
    .option("--for <hours>", "how long to allow it, such as 8h")
    .action(exitAfter(async (flags, args) => (await import("../commands/approvals.ts")).approvalsApprove(flags, args)));
  approvals
    .command("deny <id>")
    .description("deny a call")
    .option("--reason <text>", "reason, which the agent sees")
    .action(exitAfter(async (flags, args) => (await import("../commands/approvals.ts")).approvalsDeny(flags, args)));
  approvals
    .command("revoke <grant>")
    .description("revoke what you allowed beyond one call")
    .action(exitAfter(async (flags, args) => (await import("../commands/approvals.ts")).approvalsRevoke(flags, args)));
  approvals
    .command("history")
    .description("show earlier questions and their outcome")
    .option("--limit <number>", "number of questions (default: 20)")
    .action(exitAfter(async (flags) => (await import("../commands/approvals.ts")).approvalsHistory(flags)));
}
