// gsv proc: manages agent processes.

import type { Client } from "../../client/client.ts";
import { readStdinRest } from "../terminal/ask.ts";
import { formatRelativeTime } from "../terminal/durations.ts";
import { Problem } from "../terminal/problem.ts";
import {
  contextFields,
  resolveConversationId,
  formatCount,
  formatDollars,
  resolvePid,
  type ProcessEntry,
  spentFields,
} from "../chat/processes.ts";
import { describeStop, authorAndText, type Stop } from "../chat/message-text.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printFields, printJson, printNote, printSentences, printTable, printText, writeContent } from "../terminal/terminal.ts";

type ProcessFlags = Globals & { pid?: string; conversation?: string };

const EXIT_USAGE = 2;

export async function procList(flags: Globals & { uid?: string }): Promise<void> {
  const processes = await withClient(flags, (client) => listProcesses(client, flags.uid));
  if (flags.json) return printJson({ processes });
  if (processes.length === 0) return printNote("No processes yet: gsv chat starts your first one");
  printTable(
    ["PID", "STATE", "PROFILE", "LABEL", "QUEUED", "ACTIVE"],
    processes.map((one) => [
      one.pid,
      stateText(one),
      one.profile,
      one.label ?? "-",
      one.queuedCount,
      formatRelativeTime(one.lastActiveAt, "never"),
    ]),
  );
}

export async function procTree(flags: Globals & { uid?: string }): Promise<void> {
  const processes = await withClient(flags, (client) => listProcesses(client, flags.uid));
  if (flags.json) return printJson({ processes });
  if (processes.length === 0) return printNote("No processes yet: gsv chat starts your first one");
  const pids = new Set(processes.map(({ pid }) => pid));
  const rows: [string, string, string][] = [];
  const add = (parent: string | null, depth: number) => {
    for (const one of processes) {
      // A child whose parent is not in the list is shown at the top level.
      const above = one.parentPid !== null && pids.has(one.parentPid) ? one.parentPid : null;
      if (above !== parent) continue;
      rows.push([`${"   ".repeat(depth)}${depth > 0 ? "└─ " : ""}${one.pid}`, stateText(one), one.label ?? one.profile]);
      add(one.pid, depth + 1);
    }
  };
  add(null, 0);
  printTable(["PROCESS", "STATE", "LABEL"], rows);
}

type SpawnFlags = Globals & { profile?: string; label?: string; prompt?: string; parent?: string };

export async function procSpawn(flags: SpawnFlags, words: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const prompt = flags.prompt ?? words.join(" ");
    const started = await client.call("proc.spawn", {
      profile: flags.profile ?? "task",
      ...(flags.label === undefined ? {} : { label: flags.label }),
      ...(prompt === "" ? {} : { prompt }),
      ...(flags.parent === undefined ? {} : { parentPid: await resolvePid(client, flags.parent) }),
    });
    if (flags.json) return printJson(started);
    printText(started.pid);
    printNote(`gsv: to talk to it: gsv chat --pid ${started.pid.slice(0, 8)}`);
  });
}

export async function procSend(flags: ProcessFlags, words: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const piped = process.stdin.isTTY || words.length > 0 ? "" : await readStdinRest();
    const message = [words.join(" "), piped.trimEnd()].filter((part) => part.trim() !== "").join("\n\n");
    if (message === "") throw new Problem("No message: gsv proc send MESSAGE", EXIT_USAGE);
    const sent = await client.call("proc.send", { ...(await resolveConversationRef(client, flags)), message });
    if (flags.json) return printJson(sent);
    printSentences(`${sent.queued === true ? "Queued" : "Started"} as run ${sent.runId}`);
  });
}

export async function procHistory(flags: ProcessFlags & { limit?: string; offset?: string }): Promise<void> {
  await withClient(flags, async (client) => {
    const limit = parseInteger("--limit", flags.limit ?? "50");
    const offset = parseInteger("--offset", flags.offset ?? String(-limit));
    const history = await client.call("proc.history", { ...(await resolveConversationRef(client, flags)), limit, offset });
    if (flags.json) return printJson(history);
    if (history.messages.length === 0) return printNote("No messages yet: gsv chat starts a conversation");
    for (const message of history.messages) {
      const { who, text } = authorAndText(message);
      printSentences(`[${message.id}] ${who}, ${formatRelativeTime(message.timestamp, "-")}`);
      await writeContent(`${text.trimEnd()}\n\n`);
    }
    const { messageCount, messages } = history;
    if (messages.length < messageCount) printNote(`gsv: ${messages.length} of ${messageCount} messages; --limit and --offset show others`);
  });
}

export async function procAbort(flags: Globals & { run?: string }, [given]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const pid = await resolvePid(client, given);
    const run = flags.run === undefined ? {} : { runId: flags.run };
    const done = await client.call("proc.abort", { pid, ...run, pauseQueue: true });
    if (flags.json) return printJson(done);
    printSentences(done.aborted ? `Stopped run ${done.runId ?? ""} of ${pid}` : `${pid} is not working on ${flags.run ?? "anything"}`);
    printStopRemarks(done, pid);
  });
}

export async function procResume(flags: Globals, [given]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const resumed = await client.call("proc.queue.resume", { pid: await resolvePid(client, given) });
    if (flags.json) return printJson(resumed);
    printSentences(
      resumed.resumed === 0 ? "No messages are on hold" : `Resumed ${resumed.resumed} message${resumed.resumed === 1 ? "" : "s"}`,
    );
  });
}

export async function procKill(flags: Globals & { archive?: boolean }, [given = ""]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const killed = await client.call("proc.kill", { pid: await resolvePid(client, given), archive: flags.archive !== false });
    if (flags.json) return printJson(killed);
    printSentences(`Ended everything that ${killed.pid} was doing and emptied its conversations${archiveText(killed)}`);
    printStopRemarks(killed, killed.pid);
  });
}

export async function procReset(flags: ProcessFlags, [given]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const pid = await resolvePid(client, given ?? flags.pid);
    const reset = await client.call("proc.reset", { pid });
    if (flags.json) return printJson(reset);
    printSentences(`Reset ${reset.pid}${archiveText(reset)}`);
    printStopRemarks(reset, reset.pid);
  });
}

export async function procUsage(flags: Globals & { days?: string }, [given]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    if (flags.days !== undefined) return printSpending(client, flags, parseInteger("--days", flags.days));
    const usage = await client.call("proc.usage", { pid: await resolvePid(client, given) });
    if (flags.json) return printJson(usage);
    printFields([["process", usage.pid], ...spentFields(usage.spent)]);
  });
}

export async function procContext(flags: ProcessFlags & { text?: boolean }, [given]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const pid = await resolvePid(client, given);
    const conversationId = await resolveConversationId(client, pid, flags.conversation);
    const context = await client.call("proc.context", { pid, conversationId, withText: flags.text === true });
    if (flags.json) return printJson(context);
    if (context.text !== undefined) return writeContent(`${context.text}\n`);
    printFields(contextFields(context));
    printSentences("");
    printTable(
      ["PART", "BYTES", "TOKENS", "TRUNCATED"],
      context.parts.map(({ name, bytes, estimatedTokens, cut }) => [
        name,
        formatCount(bytes),
        formatCount(estimatedTokens),
        cut === 0 ? "-" : formatCount(cut),
      ]),
    );
  });
}

async function printSpending(client: Client, flags: Globals, days: number): Promise<void> {
  const spent = await client.call("proc.spending", { days });
  if (flags.json) return printJson(spent);
  if (spent.days.length === 0) return printNote("No usage in that time");
  printTable(
    ["DAY", "MODEL CALLS", "TOOL CALLS", "TOKENS", "COST"],
    spent.days.map(({ day, spent: { modelCalls, toolCalls, usage } }) => [
      day,
      formatCount(modelCalls),
      formatCount(toolCalls),
      formatCount(usage.totalTokens),
      formatDollars(usage.cost.total),
    ]),
  );
}

async function listProcesses(client: Client, uid: string | undefined): Promise<ProcessEntry[]> {
  return (await client.call("proc.list", uid === undefined ? {} : { uid: parseInteger("--uid", uid) })).processes;
}

async function resolveConversationRef(client: Client, flags: ProcessFlags) {
  const pid = await resolvePid(client, flags.pid);
  return { pid, conversationId: await resolveConversationId(client, pid, flags.conversation) };
}

function stateText({ state }: ProcessEntry): string {
  const words: Partial<Record<ProcessEntry["state"], string>> = { waiting_tool: "running a tool", waiting_hil: "waiting for you" };
  return words[state] ?? state;
}

function printStopRemarks({ stillRunning, pausedCount }: Partial<Stop>, pid: string): void {
  const rest = describeStop({ stillRunning, pausedCount, how: `gsv proc resume ${pid}` });
  if (rest !== "") printSentences(rest);
}

function archiveText({ archivedMessages, archivedTo }: { archivedMessages: number; archivedTo?: string | undefined }): string {
  return archivedTo === undefined ? "" : `; its ${archivedMessages} messages are archived in ${archivedTo}`;
}

function parseInteger(flag: string, text: string): number {
  if (!/^-?\d+$/.test(text)) throw new Problem(`${flag} takes a whole number, not ${text}`, EXIT_USAGE);
  return Number(text);
}
