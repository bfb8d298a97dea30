// proc: agent processes from inside a shell. In an agent's command it means the agent itself unless --pid names another.

import { defineCommandFile, type CommandContext, CommandError, type Output } from "../command.ts";
import { type Options, parseDuration, parseJsonOption, parseOptions, textOption } from "../options.ts";
import { formatTable } from "../table.ts";

type ParsedArgs = { rest: string[]; options: Options };
type Subcommand = {
  takes: readonly string[];
  run(context: CommandContext, parsedArgs: ParsedArgs): Promise<string>;
};

const TARGET_OPTIONS = ["pid", "conversation"];
const FLAGS = ["json", "generate-summary", "segment-only"];

const SUBCOMMANDS: Record<string, Subcommand> = {
  self: { takes: [], run: async (context) => `${requireOwnPid(context)}\n` },
  list: { takes: [], run: list },
  segments: { takes: TARGET_OPTIONS, run: listSegments },
  policy: { takes: [...TARGET_OPTIONS, "overflow", "compact-at", "keep-last"], run: getOrSetPolicy },
  segment: { takes: [...TARGET_OPTIONS, "limit", "offset", "json"], run: showSegment },
  compact: { takes: [...TARGET_OPTIONS, "keep-last", "through-message-id", "summary", "generate-summary"], run: compact },
  fork: { takes: [...TARGET_OPTIONS, "message-id", "target", "title", "segment-only"], run: fork },
  send: { takes: ["conversation", "metadata-json"], run: send },
  call: { takes: ["conversation", "metadata-json", "timeout"], run: call },
};

const DOC = `Manage agent processes and talk to them.

proc self: the id of the process this runs in.
proc list: your processes.
proc segments: the archived parts of a conversation. proc segment ID: the messages of one; --limit, --offset, --json.
proc policy: what happens when a conversation no longer fits the model's context; --overflow manual|auto-compact|fail, --compact-at N (a fraction of the context, such as 0.8) or --keep-last N set it.
proc compact (--keep-last N | --through-message-id ID): archive the older part of a conversation and replace it with a summary: --summary TEXT, or one that the model writes.
proc fork (SEGMENT | --message-id ID): start a conversation from a point of another; --target NAME, --title T, --segment-only.
proc send PID MESSAGE: send a message to another process. proc call PID MESSAGE: the same, and its answer arrives as a message; --timeout 60s. Both work only inside a process; --metadata-json JSON attaches metadata.

--pid P selects a process (default: the one this runs in), --conversation ID one of its conversations (default: default). Words after -- are not options.`;

export default defineCommandFile({
  name: "proc",
  usage: "self | list | segments | policy | segment ID | compact | fork | send PID MESSAGE | call PID MESSAGE",
  doc: DOC,
  async run(context, [name = "", ...args]): Promise<Output | string> {
    const sub = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
    if (sub === undefined)
      throw new CommandError(
        `${name === "" ? "no subcommand" : `unknown subcommand ${name}`}: use one of ${Object.keys(SUBCOMMANDS).join(", ")}`,
        2,
      );
    return sub.run(context, parse(args, sub.takes));
  },
});

type Entry = { pid: string; uid: number; state: string; profile: string; label: string | null };

async function list({ link, who }: CommandContext): Promise<string> {
  const { processes } = await link.runSyscall<{ processes: Entry[] }>("proc.list", { uid: who.uid });
  const rows = [
    ["PID", "STATE", "PROFILE", "LABEL"],
    ...processes.map(({ pid, state, profile, label }) => [pid, state, profile, label ?? "-"]),
  ];
  return formatTable(rows);
}

type Segment = { id: string; fromMessageId: number; toMessageId: number; createdAt: number; archivePath: string };

async function listSegments(context: CommandContext, parsedArgs: ParsedArgs): Promise<string> {
  const found = await context.link.runSyscall<{ segments: Segment[] }>("proc.conversation.segments", conversationArgs(context, parsedArgs));
  const rows = found.segments.map(({ id, fromMessageId, toMessageId, createdAt, archivePath }) => [
    id,
    `${fromMessageId}-${toMessageId}`,
    new Date(createdAt).toISOString(),
    archivePath,
  ]);
  return formatTable([["SEGMENT", "MESSAGES", "CREATED", "ARCHIVE"], ...rows]);
}

async function getOrSetPolicy(context: CommandContext, parsedArgs: ParsedArgs): Promise<string> {
  const { options } = parsedArgs;
  const change = {
    ...textOption(options, "overflow", "overflow"),
    ...numberOption(options, "compact-at", "compactAtPressure"),
    ...numberOption(options, "keep-last", "keepLast"),
  };
  const name = Object.keys(change).length === 0 ? "proc.conversation.policy.get" : "proc.conversation.policy.set";
  type Answer = { policy: { conversationId: string; overflow: string; compactAtPressure: number; keepLast: number } };
  const { policy } = await context.link.runSyscall<Answer>(name, { ...conversationArgs(context, parsedArgs), ...change });
  const { conversationId, overflow, compactAtPressure, keepLast } = policy;
  return formatFacts({ conversation: conversationId, overflow, compact_at: compactAtPressure, keep_last: keepLast });
}

type Message = { id: number; role: string; content: unknown };

async function showSegment(context: CommandContext, parsedArgs: ParsedArgs): Promise<string> {
  const { options } = parsedArgs;
  const [segmentId = ""] = requireWords(parsedArgs, 1, "give one segment; proc segments lists them");
  const page = { ...numberOption(options, "limit", "limit"), ...numberOption(options, "offset", "offset") };
  const answer = await context.link.runSyscall<{ messages: Message[] }>("proc.conversation.segment.read", {
    ...conversationArgs(context, parsedArgs),
    segmentId,
    ...page,
  });
  if (options.has("json")) return `${JSON.stringify(answer, null, 2)}\n`;
  return answer.messages
    .map(({ id, role, content }) => `[${id}] ${role}: ${typeof content === "string" ? content : JSON.stringify(content)}\n`)
    .join("");
}

async function compact(context: CommandContext, parsedArgs: ParsedArgs): Promise<string> {
  const { options } = parsedArgs;
  const which = { ...numberOption(options, "keep-last", "keepLast"), ...numberOption(options, "through-message-id", "throughMessageId") };
  if (Object.keys(which).length !== 1) throw new CommandError("give one of --keep-last N and --through-message-id ID", 2);
  const summary = options.has("summary") ? textOption(options, "summary", "summary") : { generateSummary: true };
  type Answer = { segment: { id: string }; archivedMessages: number; archivedTo: string; summaryMessageId: number };
  const done = await context.link.runSyscall<Answer>("proc.conversation.compact", {
    ...conversationArgs(context, parsedArgs),
    ...which,
    ...summary,
  });
  const { segment, archivedMessages, archivedTo, summaryMessageId } = done;
  return formatFacts({ segment_id: segment.id, archived: archivedMessages, archive: archivedTo, summary_message_id: summaryMessageId });
}

async function fork(context: CommandContext, parsedArgs: ParsedArgs): Promise<string> {
  const { options, rest } = parsedArgs;
  const isSegment = rest.length === 1;
  if (rest.length > 1 || isSegment === options.has("message-id")) throw new CommandError("give one segment, or --message-id ID", 2);
  const from = isSegment ? { segmentId: rest[0] } : numberOption(options, "message-id", "throughMessageId");
  const suffix = options.has("segment-only") ? { includeLiveSuffix: false } : {};
  const to = { ...textOption(options, "target", "targetConversationId"), ...textOption(options, "title", "title") };
  type Answer = { targetConversation: { id: string }; restoredMessages: number; segment?: { id: string }; includedLiveSuffix: boolean };
  const done = await context.link.runSyscall<Answer>("proc.conversation.fork", {
    ...conversationArgs(context, parsedArgs),
    ...from,
    ...to,
    ...suffix,
  });
  return formatFacts({
    conversation_id: done.targetConversation.id,
    restored: done.restoredMessages,
    segment_id: done.segment?.id ?? "",
    included_live_suffix: done.includedLiveSuffix,
  });
}

async function send(context: CommandContext, parsedArgs: ParsedArgs): Promise<string> {
  type Answer = { runId: string; queued?: true };
  const { runId, queued = false } = await context.link.runSyscall<Answer>("proc.ipc.send", ipcArgs(context, parsedArgs));
  return `accepted ${formatFacts({ run_id: runId, queued })}`;
}

async function call(context: CommandContext, parsedArgs: ParsedArgs): Promise<string> {
  const timeout = parsedArgs.options.get("timeout");
  const limit = timeout === undefined ? {} : { timeoutMs: parseDuration(timeout) };
  type Answer = { callId: string; runId: string; queued?: true; deadlineAt: number };
  const {
    callId,
    runId,
    queued = false,
    deadlineAt,
  } = await context.link.runSyscall<Answer>("proc.ipc.call", { ...ipcArgs(context, parsedArgs), ...limit });
  return formatFacts({ call_id: callId, run_id: runId, queued, deadline: new Date(deadlineAt).toISOString() });
}

function ipcArgs(context: CommandContext, { rest, options }: ParsedArgs): Record<string, unknown> {
  requireOwnPid(context);
  const [pid, ...words] = rest;
  if (pid === undefined || words.length === 0) throw new CommandError("give a process and a message", 2);
  const json = options.get("metadata-json");
  const metadata = json === undefined ? {} : { metadata: parseJsonOption("metadata-json", json) };
  return { pid, message: words.join(" "), ...textOption(options, "conversation", "conversationId"), ...metadata };
}

/** The pid of the process that this command runs in; fails outside a process. */
function requireOwnPid({ env }: CommandContext): string {
  return env.get("GSV_PID") || failUsage("this works only inside a process; from a terminal, use gsv proc");
}

function conversationArgs(context: CommandContext, { options }: ParsedArgs): Record<string, unknown> {
  const pid = options.get("pid") ?? (context.env.get("GSV_PID") || failUsage("select a process with --pid P; proc list shows yours"));
  return { pid, ...textOption(options, "conversation", "conversationId") };
}

function parse(args: readonly string[], takes: readonly string[]): ParsedArgs {
  const flags = takes.filter((name) => FLAGS.includes(name));
  const { words, after, options } = parseOptions(args, { valued: takes.filter((name) => !FLAGS.includes(name)), flags });
  return { rest: [...words, ...(after ?? [])], options };
}

function requireWords({ rest }: ParsedArgs, count: number, otherwise: string): string[] {
  return rest.length === count ? rest : failUsage(otherwise);
}

function numberOption(options: Options, name: string, as: string): Record<string, number> {
  const value = options.get(name);
  if (value === undefined) return {};
  const found = Number(value);
  return value.trim() === "" || Number.isNaN(found) ? failUsage(`--${name} takes a number, not ${value}`) : { [as]: found };
}

function formatFacts(values: Record<string, string | number | boolean>): string {
  return `${Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ")}\n`;
}

function failUsage(message: string): never {
  throw new CommandError(message, 2);
}
