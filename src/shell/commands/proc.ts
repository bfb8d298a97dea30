// proc: agent processes from inside a shell. In an agent's command it speaks of the agent itself unless --pid names another.

import { command, type CommandContext, CommandError, type Output } from "../command.ts";

/** Words, and options by name; those without a value are true. */
type Given = { rest: string[]; options: ReadonlyMap<string, string | true> };
type Sub = {
  takes: readonly string[];
  run(context: CommandContext, given: Given): Promise<string>;
};

const OF = ["pid", "conversation"];
const BARE = new Set(["json", "generate-summary", "segment-only"]);
const LENGTHS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const SUBS: Record<string, Sub> = {
  self: { takes: [], run: async (context) => `${inside(context)}\n` },
  list: { takes: [], run: list },
  segments: { takes: OF, run: segments },
  policy: { takes: [...OF, "overflow", "compact-at", "keep-last"], run: policy },
  segment: { takes: [...OF, "limit", "offset", "json"], run: segment },
  compact: { takes: [...OF, "keep-last", "through-message-id", "summary", "generate-summary"], run: compact },
  fork: { takes: [...OF, "message-id", "target", "title", "segment-only"], run: fork },
  send: { takes: ["conversation", "metadata-json"], run: send },
  call: { takes: ["conversation", "metadata-json", "timeout"], run: call },
};

const DOC = `Look after agent processes and talk to them.

proc self: the id of the process this runs in.
proc list: your processes.
proc segments: what of a conversation is in the archive. proc segment ID: the messages of one, with --limit, --offset and --json.
proc policy: what happens when a conversation no longer fits the model's context; --overflow manual|auto-compact|fail, --compact-at N (a share of what fits, as 0.8) or --keep-last N set it.
proc compact (--keep-last N | --through-message-id ID): archive the older part of a conversation, with --summary TEXT or one that the model writes in its place.
proc fork (SEGMENT | --message-id ID): begin a conversation from a point of another; --target NAME, --title T, --segment-only.
proc send PID MESSAGE: tell another process something. proc call PID MESSAGE: the same, and its answer comes back as a message of its own; --timeout 60s. Both only inside a process, with --metadata-json JSON for what goes along.

--pid P names the process, else the one this runs in; --conversation ID one of its conversations, else default. A word after -- is no option.`;

export default command({
  name: "proc",
  usage: "self | list | segments | policy | segment ID | compact | fork | send PID MESSAGE | call PID MESSAGE",
  doc: DOC,
  async run(context, [name = "", ...args]): Promise<Output | string> {
    const sub = Object.hasOwn(SUBS, name) ? SUBS[name] : undefined;
    if (sub === undefined)
      throw new CommandError(`${name === "" ? "do what?" : `unknown: ${name}`} One of ${Object.keys(SUBS).join(", ")}`, 2);
    return sub.run(context, parse(args, sub.takes));
  },
});

type Entry = { pid: string; uid: number; state: string; profile: string; label: string | null };

async function list({ link, who }: CommandContext): Promise<string> {
  const { processes } = await link.sys<{ processes: Entry[] }>("proc.list", { uid: who.uid });
  const rows = [
    ["PID", "STATE", "PROFILE", "LABEL"],
    ...processes.map(({ pid, state, profile, label }) => [pid, state, profile, label ?? "-"]),
  ];
  return table(rows);
}

type Segment = { id: string; fromMessageId: number; toMessageId: number; createdAt: number; archivePath: string };

async function segments(context: CommandContext, given: Given): Promise<string> {
  const found = await context.link.sys<{ segments: Segment[] }>("proc.conversation.segments", of(context, given));
  const rows = found.segments.map(({ id, fromMessageId, toMessageId, createdAt, archivePath }) => [
    id,
    `${fromMessageId}-${toMessageId}`,
    new Date(createdAt).toISOString(),
    archivePath,
  ]);
  return table([["SEGMENT", "MESSAGES", "CREATED", "ARCHIVE"], ...rows]);
}

async function policy(context: CommandContext, given: Given): Promise<string> {
  const { options } = given;
  const change = {
    ...text(options, "overflow", "overflow"),
    ...number(options, "compact-at", "compactAtPressure"),
    ...number(options, "keep-last", "keepLast"),
  };
  const name = Object.keys(change).length === 0 ? "proc.conversation.policy.get" : "proc.conversation.policy.set";
  type Answer = { policy: { conversationId: string; overflow: string; compactAtPressure: number; keepLast: number } };
  const { policy } = await context.link.sys<Answer>(name, { ...of(context, given), ...change });
  const { conversationId, overflow, compactAtPressure, keepLast } = policy;
  return facts({ conversation: conversationId, overflow, compact_at: compactAtPressure, keep_last: keepLast });
}

type Message = { id: number; role: string; content: unknown };

async function segment(context: CommandContext, given: Given): Promise<string> {
  const { options } = given;
  const [segmentId = ""] = words(given, 1, "name one segment: proc segments lists them");
  const page = { ...number(options, "limit", "limit"), ...number(options, "offset", "offset") };
  const answer = await context.link.sys<{ messages: Message[] }>("proc.conversation.segment.read", {
    ...of(context, given),
    segmentId,
    ...page,
  });
  if (options.has("json")) return `${JSON.stringify(answer, null, 2)}\n`;
  return answer.messages
    .map(({ id, role, content }) => `[${id}] ${role}: ${typeof content === "string" ? content : JSON.stringify(content)}\n`)
    .join("");
}

async function compact(context: CommandContext, given: Given): Promise<string> {
  const { options } = given;
  const which = { ...number(options, "keep-last", "keepLast"), ...number(options, "through-message-id", "throughMessageId") };
  if (Object.keys(which).length !== 1) throw new CommandError("give one of --keep-last N and --through-message-id ID", 2);
  const summary = options.has("summary") ? text(options, "summary", "summary") : { generateSummary: true };
  type Answer = { segment: { id: string }; archivedMessages: number; archivedTo: string; summaryMessageId: number };
  const done = await context.link.sys<Answer>("proc.conversation.compact", { ...of(context, given), ...which, ...summary });
  const { segment, archivedMessages, archivedTo, summaryMessageId } = done;
  return facts({ segment_id: segment.id, archived: archivedMessages, archive: archivedTo, summary_message_id: summaryMessageId });
}

async function fork(context: CommandContext, given: Given): Promise<string> {
  const { options, rest } = given;
  const isSegment = rest.length === 1;
  if (rest.length > 1 || isSegment === options.has("message-id")) throw new CommandError("give one segment, or --message-id ID", 2);
  const from = isSegment ? { segmentId: rest[0] } : number(options, "message-id", "throughMessageId");
  const suffix = options.has("segment-only") ? { includeLiveSuffix: false } : {};
  const to = { ...text(options, "target", "targetConversationId"), ...text(options, "title", "title") };
  type Answer = { targetConversation: { id: string }; restoredMessages: number; segment?: { id: string }; includedLiveSuffix: boolean };
  const done = await context.link.sys<Answer>("proc.conversation.fork", { ...of(context, given), ...from, ...to, ...suffix });
  return facts({
    conversation_id: done.targetConversation.id,
    restored: done.restoredMessages,
    segment_id: done.segment?.id ?? "",
    included_live_suffix: done.includedLiveSuffix,
  });
}

async function send(context: CommandContext, given: Given): Promise<string> {
  type Answer = { runId: string; queued?: true };
  const { runId, queued = false } = await context.link.sys<Answer>("proc.ipc.send", message(context, given));
  return `accepted ${facts({ run_id: runId, queued })}`;
}

async function call(context: CommandContext, given: Given): Promise<string> {
  const timeout = given.options.get("timeout");
  const limit = timeout === undefined ? {} : { timeoutMs: duration(String(timeout)) };
  type Answer = { callId: string; runId: string; queued?: true; deadlineAt: number };
  const {
    callId,
    runId,
    queued = false,
    deadlineAt,
  } = await context.link.sys<Answer>("proc.ipc.call", { ...message(context, given), ...limit });
  return facts({ call_id: callId, run_id: runId, queued, deadline: new Date(deadlineAt).toISOString() });
}

function message(context: CommandContext, { rest, options }: Given): Record<string, unknown> {
  inside(context);
  const [pid, ...said] = rest;
  if (pid === undefined || said.length === 0) throw new CommandError("name a process and say something to it", 2);
  const json = options.get("metadata-json");
  const metadata = json === undefined ? {} : { metadata: parsed(String(json)) };
  return { pid, message: said.join(" "), ...text(options, "conversation", "conversationId"), ...metadata };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new CommandError("--metadata-json is not JSON", 2);
  }
}

/** The process this command is part of. */
function inside({ env }: CommandContext): string {
  return env.get("GSV_PID") || missing("this works only inside a process: gsv proc, at a terminal, does the same from outside");
}

function of(context: CommandContext, { options }: Given): Record<string, unknown> {
  const pid = options.get("pid") ?? (context.env.get("GSV_PID") || missing("--pid P says which process; proc list shows yours"));
  return { pid, ...text(options, "conversation", "conversationId") };
}

function parse(args: readonly string[], takes: readonly string[]): Given {
  const rest: string[] = [];
  const options = new Map<string, string | true>();
  let isOver = false;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (isOver || !arg.startsWith("--")) {
      rest.push(arg);
      continue;
    }
    if (arg === "--") {
      isOver = true;
      continue;
    }
    const [name = "", inline] = arg.slice(2).split(/=([^]*)/, 2);
    if (!takes.includes(name)) throw new CommandError(`unknown option --${name}`, 2);
    if (BARE.has(name)) options.set(name, true);
    else options.set(name, inline ?? args[++at] ?? missing(`--${name} needs a value`));
  }
  return { rest, options };
}

function words({ rest }: Given, count: number, otherwise: string): string[] {
  return rest.length === count ? rest : missing(otherwise);
}

function text(options: Given["options"], name: string, as: string): Record<string, string> {
  const value = options.get(name);
  return typeof value === "string" ? { [as]: value } : {};
}

function number(options: Given["options"], name: string, as: string): Record<string, number> {
  const value = options.get(name);
  if (value === undefined) return {};
  const found = Number(value);
  return String(value).trim() === "" || Number.isNaN(found) ? missing(`--${name} takes a number, not ${value}`) : { [as]: found };
}

function duration(text: string): number {
  const [, amount, unit = "ms"] = /^(\d+)(ms|s|m|h|d)?$/.exec(text) ?? [];
  return amount === undefined ? missing(`not a length of time: ${text}. Use one such as 60s or 5m`) : Number(amount) * LENGTHS[unit]!;
}

function facts(values: Record<string, string | number | boolean>): string {
  return `${Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ")}\n`;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at]!)).join("  ");
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}

function missing(message: string): never {
  throw new CommandError(message, 2);
}
