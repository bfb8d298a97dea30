// signal: watches for signals of processes.

import type { SignalWatch } from "../../protocol/watch-records.ts";
import { formatZonedTime } from "../../lib/zoned-time.ts";
import { defineCommandFile, type CommandContext, CommandError, type Output } from "../command.ts";
import { readManual } from "../manual.ts";
import { type Options, parseDuration, parseJsonOption, parseOptions, textOption } from "../options.ts";
import { readTimezone } from "../schedules.ts";
import { formatTable, toJson, toLine } from "../table.ts";

type Parsed = { words: readonly string[]; options: Options };
type Subcommand = {
  valued?: readonly string[];
  flags?: readonly string[];
  run(context: CommandContext, parsed: Parsed): Promise<Output | string>;
};

const PAGE = 500;

const SUBCOMMANDS: Record<string, Subcommand> = {
  list: { flags: ["json"], run: list },
  watch: { valued: ["process", "pid", "key", "state-json", "ttl"], flags: ["repeat", "json"], run: watch },
  unwatch: { valued: ["key"], run: unwatch },
};

const DOC = `Have a process told when another one emits a signal, such as the end of a run.

signal watch SIGNAL --process PID: an agent is told of this signal of that process by a message, and starts to work on it if it is idle. A person names with --pid which of their processes is told, by default their init, and may leave --process out to watch all others. The signals are proc.run.started, proc.run.finished, proc.run.output, proc.run.tool.started, proc.run.tool.finished, proc.run.hil.requested, proc.run.retrying, proc.changed and chat.complete.
The watch ends with its first signal, or stays with --repeat. It expires after a day, or after --ttl 2h, at most 30 days. --key K: a later watch with the same key replaces it. --state-json JSON is repeated in the message.
signal unwatch ID, or --key K: remove it. signal list: your watches; one that has failed says why. --json.`;

export default defineCommandFile({
  name: "signal",
  usage: "list | watch SIGNAL [--process PID] [options] | unwatch ID | unwatch --key KEY | help",
  doc: DOC,
  async run(context, [name = "list", ...args]): Promise<Output | string> {
    if (name === "help" || name === "--help") return readManual(context, "signal");
    const sub = Object.hasOwn(SUBCOMMANDS, name)
      ? SUBCOMMANDS[name]!
      : failUsage(`unknown subcommand ${name}: use one of ${Object.keys(SUBCOMMANDS).join(", ")}, help`);
    const { words, after, options } = parseOptions(args, { valued: sub.valued ?? [], flags: sub.flags ?? [] });
    return sub.run(context, { words: [...words, ...(after ?? [])], options });
  },
});

async function list(context: CommandContext, { words, options }: Parsed): Promise<Output> {
  if (words.length > 0) failUsage("list takes no words");
  const watches = await listWatches(context);
  if (options.has("json")) return { stdout: toJson(watches) };
  if (watches.length === 0) return { stderr: "signal: no watches\n" };
  const zone = readTimezone(context, undefined) ?? "UTC";
  const rows = watches.map(({ watchId, signal, processId, pid, key, once, status, error, expiresAt }) => [
    watchId,
    signal,
    processId ?? "any",
    pid,
    toLine(key ?? "-"),
    once ? "once" : "repeating",
    error === null ? status : `${status}: ${toLine(error)}`,
    formatZonedTime(expiresAt, zone),
  ]);
  return { stdout: formatTable([["ID", "SIGNAL", "OF", "TELLS", "KEY", "HOW OFTEN", "STATE", `EXPIRES (${zone})`], ...rows]) };
}

async function listWatches({ link }: CommandContext): Promise<SignalWatch[]> {
  const found: SignalWatch[] = [];
  for (;;) {
    const page = { limit: PAGE, offset: found.length };
    const { watches, count } = await link.runSyscall<{ watches: SignalWatch[]; count: number }>("signal.list", page);
    found.push(...watches);
    if (watches.length === 0 || found.length >= count) return found;
  }
}

async function watch({ link }: CommandContext, { words, options }: Parsed): Promise<string> {
  const [signal] = words.length === 1 ? words : failUsage("give one signal, such as proc.run.finished");
  const state = options.get("state-json");
  const ttl = options.get("ttl");
  type Answer = { watchId: string; created: boolean; expiresAt: number };
  const answer = await link.runSyscall<Answer>("signal.watch", {
    signal,
    ...textOption(options, "process", "processId"),
    ...textOption(options, "pid", "pid"),
    ...textOption(options, "key", "key"),
    ...(state === undefined ? {} : { state: parseJsonOption("state-json", state) }),
    once: !options.has("repeat"),
    ...(ttl === undefined ? {} : { ttlMs: parseDuration(ttl) }),
  });
  if (options.has("json")) return toJson(answer);
  return `${answer.created ? "Watching" : "Replaced"} ${answer.watchId} until ${new Date(answer.expiresAt).toISOString()}\n`;
}

async function unwatch({ link }: CommandContext, { words, options }: Parsed): Promise<string> {
  const key = options.get("key");
  if (words.length !== (key === undefined ? 1 : 0)) failUsage("give one id, or --key K; signal list shows them");
  const by = key === undefined ? { watchId: words[0]! } : { key };
  const { removed } = await link.runSyscall<{ removed: number }>("signal.unwatch", by);
  if (removed === 0) throw new CommandError(`no watch ${key ?? words[0]}: signal list shows yours`);
  return `Removed ${removed}\n`;
}

function failUsage(message: string): never {
  throw new CommandError(message, 2);
}
