// gsv proc: manages agent processes.

import type { Client } from "../../client/client.ts";
import { stdinRest } from "../terminal/ask.ts";
import { relative } from "../terminal/durations.ts";
import { Problem } from "../terminal/problem.ts";
import { contextFields, conversationOf, count, money, processOf, type ProcessEntry, spentFields } from "../chat/processes.ts";
import { afterStop, rowOf, type Stop } from "../chat/message-text.ts";
import { type Globals, withClient } from "../session/session.ts";
import { note, writeContent, say, sayFields, sayJson, sayTable } from "../terminal/terminal.ts";

type ProcessFlags = Globals & { pid?: string; conversation?: string };

const EXIT_USAGE = 2;

export async function procList(flags: Globals & { uid?: string }): Promise<void> {
  const processes = await withClient(flags, (client) => listProcesses(client, flags.uid));
  if (flags.json) return sayJson({ processes });
  if (processes.length === 0) return note("No processes yet: gsv chat starts your first one");
  sayTable(
    ["PID", "STATE", "PROFILE", "LABEL", "QUEUED", "ACTIVE"],
    processes.map((one) => [one.pid, stateOf(one), one.profile, one.label ?? "-", one.queuedCount, relative(one.lastActiveAt, "never")]),
  );
}

export async function procTree(flags: Globals & { uid?: string }): Promise<void> {
  const processes = await withClient(flags, (client) => listProcesses(client, flags.uid));
  if (flags.json) return sayJson({ processes });
  if (processes.length === 0) return note("No processes yet: gsv chat starts your first one");
  const pids = new Set(processes.map(({ pid }) => pid));
  const rows: [string, string, string][] = [];
  const add = (parent: string | null, depth: number) => {
    for (const one of processes) {
      // A child whose parent is not in the list is shown at the top level.
      const above = one.parentPid !== null && pids.has(one.parentPid) ? one.parentPid : null;
      if (above !== parent) continue;
      rows.push([`${"   ".repeat(depth)}${depth > 0 ? "└─ " : ""}${one.pid}`, stateOf(one), one.label ?? one.profile]);
      add(one.pid, depth + 1);
    }
  };
  add(null, 0);
  sayTable(["PROCESS", "STATE", "LABEL"], rows);
}

type SpawnFlags = Globals & { profile?: string; label?: string; prompt?: string; parent?: string };

export async function procSpawn(flags: SpawnFlags, words: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const prompt = flags.prompt ?? words.join(" ");
    const started = await client.call("proc.spawn", {
      profile: flags.profile ?? "task",
      ...(flags.label === undefined ? {} : { label: flags.label }),
      ...(prompt === "" ? {} : { prompt }),
      ...(flags.parent === undefined ? {} : { parentPid: await processOf(client, flags.parent) }),
    });
    if (flags.json) return sayJson(started);
    say(started.pid);
    note(`gsv: to talk to it: gsv chat --pid ${started.pid.slice(0, 8)}`);
  });
}

export async function procSend(flags: ProcessFlags, words: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const piped = process.stdin.isTTY || words.length > 0 ? "" : await stdinRest();
    const message = [words.join(" "), piped.trimEnd()].filter((part) => part.trim() !== "").join("\n\n");
    if (message === "") throw new Problem("No message: gsv proc send MESSAGE", EXIT_USAGE);
    const sent = await client.call("proc.send", { ...(await resolveWhere(client, flags)), message });
    if (flags.json) return sayJson(sent);
    say(`${sent.queued === true ? "Queued" : "Started"} as run ${sent.runId}`);
  });
}

export async function procHistory(flags: ProcessFlags & { limit?: string; offset?: string }): Promise<void> {
  await withClient(flags, async (client) => {
    const limit = integer("--limit", flags.limit ?? "50");
    const offset = integer("--offset", flags.offset ?? String(-limit));
    const history = await client.call("proc.history", { ...(await resolveWhere(client, flags)), limit, offset });
    if (flags.json) return sayJson(history);
    if (history.messages.length === 0) return note("No messages yet: gsv chat starts a conversation");
    for (const message of history.messages) {
      const { who, text } = rowOf(message);
      say(`[${message.id}] ${who}, ${relative(message.timestamp, "-")}`);
      await writeContent(`${text.trimEnd()}\n\n`);
    }
    const { messageCount, messages } = history;
    if (messages.length < messageCount) note(`gsv: ${messages.length} of ${messageCount} messages; --limit and --offset show others`);
  });
}

export async function procAbort(flags: Globals & { run?: string }, [given]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const pid = await processOf(client, given);
    const run = flags.run === undefined ? {} : { runId: flags.run };
    const done = await client.call("proc.abort", { pid, ...run, pauseQueue: true });
    if (flags.json) return sayJson(done);
    say(done.aborted ? `Stopped run ${done.runId ?? ""} of ${pid}` : `${pid} is not working on ${flags.run ?? "anything"}`);
    sayRest(done, pid);
  });
}

export async function procResume(flags: Globals, [given]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const resumed = await client.call("proc.queue.resume", { pid: await processOf(client, given) });
    if (flags.json) return sayJson(resumed);
    say(resumed.resumed === 0 ? "No messages are on hold" : `Resumed ${resumed.resumed} message${resumed.resumed === 1 ? "" : "s"}`);
  });
}

export async function procKill(flags: Globals & { archive?: boolean }, [given = ""]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const killed = await client.call("proc.kill", { pid: await processOf(client, given), archive: flags.archive !== false });
    if (flags.json) return sayJson(killed);
    say(`Ended everything that ${killed.pid} was doing and emptied its conversations${archiveText(killed)}`);
    sayRest(killed, killed.pid);
  });
}

export async function procReset(flags: ProcessFlags, [given]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const pid = await processOf(client, given ?? flags.pid);
    const reset = await client.call("proc.reset", { pid });
    if (flags.json) return sayJson(reset);
    say(`Reset ${reset.pid}${archiveText(reset)}`);
    sayRest(reset, reset.pid);
  });
}

export async function procUsage(flags: Globals & { days?: string }, [given]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    if (flags.days !== undefined) return printSpending(client, flags, integer("--days", flags.days));
    const usage = await client.call("proc.usage", { pid: await processOf(client, given) });
    if (flags.json) return sayJson(usage);
    sayFields([["process", usage.pid], ...spentFields(usage.spent)]);
  });
}

export async function procContext(flags: ProcessFlags & { text?: boolean }, [given]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const pid = await processOf(client, given);
    const conversationId = await conversationOf(client, pid, flags.conversation);
    const context = await client.call("proc.context", { pid, conversationId, withText: flags.text === true });
    if (flags.json) return sayJson(context);
    if (context.text !== undefined) return writeContent(`${context.text}\n`);
    sayFields(contextFields(context));
    say("");
    sayTable(
      ["PART", "BYTES", "TOKENS", "TRUNCATED"],
      context.parts.map(({ name, bytes, estimatedTokens, cut }) => [
        name,
        count(bytes),
        count(estimatedTokens),
        cut === 0 ? "-" : count(cut),
      ]),
    );
  });
}

async function printSpending(client: Client, flags: Globals, days: number): Promise<void> {
  const spent = await client.call("proc.spending", { days });
  if (flags.json) return sayJson(spent);
  if (spent.days.length === 0) return note("No usage in that time");
  sayTable(
    ["DAY", "MODEL CALLS", "TOOL CALLS", "TOKENS", "COST"],
    spent.days.map(({ day, spent: { modelCalls, toolCalls, usage } }) => [
      day,
      count(modelCalls),
      count(toolCalls),
      count(usage.totalTokens),
      money(usage.cost.total),
    ]),
  );
}

async function listProcesses(client: Client, uid: string | undefined): Promise<ProcessEntry[]> {
  return (await client.call("proc.list", uid === undefined ? {} : { uid: integer("--uid", uid) })).processes;
}

async function resolveWhere(client: Client, flags: ProcessFlags) {
  const pid = await processOf(client, flags.pid);
  return { pid, conversationId: await conversationOf(client, pid, flags.conversation) };
}

function stateOf({ state }: ProcessEntry): string {
  const words: Partial<Record<ProcessEntry["state"], string>> = { waiting_tool: "running a tool", waiting_hil: "waiting for you" };
  return words[state] ?? state;
}

function sayRest({ stillRunning, pausedCount }: Partial<Stop>, pid: string): void {
  const rest = afterStop({ stillRunning, pausedCount, how: `gsv proc resume ${pid}` });
  if (rest !== "") say(rest);
}

function archiveText({ archivedMessages, archivedTo }: { archivedMessages: number; archivedTo?: string | undefined }): string {
  return archivedTo === undefined ? "" : `; its ${archivedMessages} messages are archived in ${archivedTo}`;
}

function integer(flag: string, text: string): number {
  if (!/^-?\d+$/.test(text)) throw new Problem(`${flag} takes a whole number, not ${text}`, EXIT_USAGE);
  return Number(text);
}
