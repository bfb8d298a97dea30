// notify: the notifications of the caller's user.

import { shorten } from "../../lib/shorten.ts";
import { formatZonedTime } from "../../lib/zoned-time.ts";
import type { NotificationRecord, NotificationSource } from "../../protocol/notification-records.ts";
import { defineCommandFile, type CommandContext, CommandError, type Output } from "../command.ts";
import { readManual } from "../manual.ts";
import { type Options, parseDuration, parseOptions, textOption } from "../options.ts";
import { readTimezone } from "../schedules.ts";
import { formatTable, toJson, toLine } from "../table.ts";

type Parsed = { words: readonly string[]; options: Options };
type Subcommand = {
  valued?: readonly string[];
  flags?: readonly string[];
  run(context: CommandContext, parsed: Parsed): Promise<Output | string>;
};

const READ: Subcommand = { flags: ["all"], run: (context, parsed) => change(context, parsed, "notification.mark_read", "read") };

const SUBCOMMANDS: Record<string, Subcommand> = {
  list: { valued: ["limit"], flags: ["unread", "dismissed", "json"], run: list },
  send: { valued: ["title", "body", "level", "ttl", "ttl-ms"], run: send },
  read: READ,
  "mark-read": READ,
  dismiss: { flags: ["all"], run: (context, parsed) => change(context, parsed, "notification.dismiss", "dismissed") },
};

const DOC = `Tell a person something, and read what was told.

notify send TITLE: a notification for your user, on every screen and device where they want it. --body TEXT, --level info|success|warning|error, --ttl 2d (or --ttl-ms N), after which it is forgotten; by default 30 days. --title T is another way to give the title.
notify list: the notifications, the newest first. --unread leaves out those that were read, --dismissed includes those that were dismissed; --limit N, --json.
notify read ID (or mark-read), notify dismiss ID: an ID may be shortened. --all means all that are listed. An agent leaves out those of the gateway, which it may not hide. A notification that was read is kept for a week, one that was dismissed for three days.`;

export default defineCommandFile({
  name: "notify",
  usage: "list [--unread] | send TITLE [--body TEXT] [--level LEVEL] | read ID | dismiss ID | help",
  doc: DOC,
  async run(context, [name = "list", ...args]): Promise<Output | string> {
    if (name === "help" || name === "--help") return readManual(context, "notify");
    const sub = Object.hasOwn(SUBCOMMANDS, name)
      ? SUBCOMMANDS[name]!
      : failUsage(`unknown subcommand ${name}: use one of ${Object.keys(SUBCOMMANDS).join(", ")}, help`);
    const { words, after, options } = parseOptions(args, { valued: sub.valued ?? [], flags: sub.flags ?? [] });
    return sub.run(context, { words: [...words, ...(after ?? [])], options });
  },
});

async function send({ link }: CommandContext, { words, options }: Parsed): Promise<string> {
  const title = options.get("title") ?? words.join(" ");
  if (options.has("title") && words.length > 0) failUsage("give the title once: as words, or with --title");
  if (title.trim() === "") failUsage('say what: notify send "The backup is done"');
  const ttl = options.get("ttl-ms") ?? options.get("ttl");
  const { notification } = await link.runSyscall<{ notification: NotificationRecord }>("notification.create", {
    title,
    ...textOption(options, "body", "body"),
    ...textOption(options, "level", "level"),
    ...(ttl === undefined ? {} : { ttlMs: parseDuration(ttl) }),
  });
  return `${notification.notificationId}\n`;
}

async function list(context: CommandContext, { words, options }: Parsed): Promise<Output> {
  if (words.length > 0) failUsage("list takes no words");
  const limit = options.has("limit") ? { limit: Number(options.get("limit")) } : {};
  const found = await listNotifications(context, {
    includeRead: !options.has("unread"),
    includeDismissed: options.has("dismissed"),
    ...limit,
  });
  if (options.has("json")) return { stdout: toJson(found) };
  if (found.length === 0) return { stderr: "notify: nothing to show\n" };
  const zone = readTimezone(context, undefined) ?? "UTC";
  const rows = found.map(({ notificationId, createdAt, readAt, dismissedAt, level, source, title, body }) => [
    notificationId,
    formatZonedTime(createdAt, zone),
    dismissedAt !== null ? "dismissed" : readAt !== null ? "read" : "unread",
    level,
    describeSource(source),
    toLine(title),
    shorten(toLine(body ?? ""), BODY_CHARS) || "-",
  ]);
  return { stdout: formatTable([["ID", `TIME (${zone})`, "STATE", "LEVEL", "FROM", "TITLE", "TEXT"], ...rows]) };
}

const BODY_CHARS = 100;
const ALL = 500;
const ID_CHARS = 36;

async function change(context: CommandContext, { words, options }: Parsed, call: string, done: string): Promise<string> {
  if (options.has("all") ? words.length > 0 : words.length === 0) failUsage("give ids, or --all; notify list shows them");
  if (options.has("all")) return `${await changeAll(context, call)} ${done}\n`;
  const isWhole = words.every((word) => word.length === ID_CHARS);
  const known = isWhole ? [] : await listNotifications(context, { limit: ALL });
  const ids = isWhole ? words : words.map((word) => findId(known, word));
  for (const id of ids) if (!(await changeOne(context, call, id))) throw new CommandError(`no notification ${id}: notify list shows yours`);
  return `${ids.length} ${done}\n`;
}

/** Page by page: what was changed is not listed again. */
async function changeAll(context: CommandContext, call: string): Promise<number> {
  const wanted = { includeRead: call !== "notification.mark_read", limit: ALL };
  for (let count = 0; ;) {
    const known = await listNotifications(context, wanted);
    const ids = known.filter(({ source }) => !context.who.isAgent || source.kind !== "kernel").map(({ notificationId }) => notificationId);
    if (ids.length === 0) return count;
    for (const id of ids) if (await changeOne(context, call, id)) count++;
  }
}

async function changeOne({ link }: CommandContext, call: string, notificationId: string): Promise<boolean> {
  return (await link.runSyscall<{ notification: NotificationRecord | null }>(call, { notificationId })).notification !== null;
}

function findId(known: readonly NotificationRecord[], wanted: string): string {
  const found = known.filter(({ notificationId }) => wanted !== "" && notificationId.startsWith(wanted));
  if (found.length > 1) throw new CommandError(`${wanted} is ambiguous: write more of the id`);
  if (found.length === 0) throw new CommandError(`no notification ${wanted}: notify list shows yours`);
  return found[0]!.notificationId;
}

async function listNotifications({ link }: CommandContext, args: Record<string, unknown>): Promise<NotificationRecord[]> {
  return (await link.runSyscall<{ notifications: NotificationRecord[] }>("notification.list", args)).notifications;
}

function describeSource(source: NotificationSource): string {
  switch (source.kind) {
    case "user":
      return "you";
    case "process":
      return `process ${source.processId}`;
    case "app":
      return toLine(source.packageName);
    case "kernel":
      return source.topic;
  }
}

function failUsage(message: string): never {
  throw new CommandError(message, 2);
}
