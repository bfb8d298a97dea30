// sched: the schedules of the caller.

import { shorten } from "../../lib/shorten.ts";
import { formatZonedTime } from "../../lib/zoned-time.ts";
import type { ScheduleExpression, ScheduleRecord, ScheduleRun, ScheduleTarget } from "../../protocol/schedule-records.ts";
import { defineCommandFile, type CommandContext, CommandError, type Output } from "../command.ts";
import { readManual } from "../manual.ts";
import { type Options, parseJsonOption, parseOptions, textOption } from "../options.ts";
import {
  describePreview,
  findScheduleId,
  listSchedules,
  preview,
  type Preview,
  previewSchedule,
  readTimezone,
  zoneOf,
} from "../schedules.ts";
import { formatTable, toJson, toLine } from "../table.ts";

type Parsed = { words: readonly string[]; options: Options };
type Subcommand = {
  usage: string;
  valued?: readonly string[];
  flags?: readonly string[];
  run(context: CommandContext, parsed: Parsed): Promise<Output | string>;
};

const WHEN = ["cron", "every", "after", "at", "when"];
const ADD = "name timezone pid conversation profile label description data-json prompt message catch-up notify json".split(" ");
const LIST: Subcommand = { usage: "[--all] [--json]", flags: ["all", "json"], run: list };

const SUBCOMMANDS: Record<string, Subcommand> = {
  list: LIST,
  ls: LIST,
  add: { usage: "WHEN AND WHAT [options]", valued: [...WHEN, ...ADD], flags: ["disabled"], run: add },
  show: { usage: "SCHEDULE", flags: ["json"], run: show },
  enable: { usage: "SCHEDULE", run: (context, parsed) => setEnabled(context, parsed, true) },
  disable: { usage: "SCHEDULE", run: (context, parsed) => setEnabled(context, parsed, false) },
  remove: { usage: "SCHEDULE", run: remove },
  run: { usage: "[SCHEDULE] [--force]", flags: ["force"], run },
  history: { usage: "SCHEDULE [--limit N] [--json]", valued: ["limit"], flags: ["json"], run: history },
  preview: { usage: "WORDS", valued: ["timezone", "count"], run: showPreview },
};

const DOC = `Run agents at set times.

sched add TEXT: one sentence that says when and what, such as: sched add every weekday at 9 summarise my mail. It prints what was understood, and the next three runs.
The time may be an option instead: --every 2h (--every 1d is 24 hours, "every day at 9" a time of day), --after 20m, --at "tomorrow 09:00" (or milliseconds since 1970), --when "every monday at 10", or --cron "0 9 * * 1-5"; then TEXT, or --prompt TEXT, is only what to do. --timezone TZ is the zone of times of day, by default your terminal's (TZ), else the gateway's.
It starts a process with the profile cron, which works unattended: what would need approval is refused. --profile P names another, --label L its label. --pid P (--message TEXT) sends the text to that process instead; --conversation C and --data-json JSON belong to that.
--name N, --description T, --disabled. --catch-up once|skip: whether one run makes up for times at which the gateway was not running. --notify all|failures|none: which runs you are notified of. --json JSON: the arguments of sched.add themselves.

sched list: your schedules, the next to run first; --all includes disabled ones. sched show SCHEDULE: all of it, with its next runs. --json prints either as data. A SCHEDULE is an id, the beginning of one, or a name.
sched history SCHEDULE: its runs, the newest first, with why one failed or was skipped; --limit N.
sched enable, disable, remove SCHEDULE. A schedule that fails five times in a row is paused: enable it when the cause is mended.
sched run: what is due now, which the gateway does by itself. sched run SCHEDULE --force: run one now, due or not.
sched preview WORDS: when that would be.

A fixed time of day that does not exist on a day, because clocks go forward, runs at the first minute that does; one that exists twice runs once. Schedules with a * for hour or minute follow real time. crontab shows the same schedules as a table.`;

export default defineCommandFile({
  name: "sched",
  usage: "list | add WHEN AND WHAT | show | history | enable | disable | remove | run | preview | help",
  doc: DOC,
  async run(context, [name = "list", ...args]): Promise<Output | string> {
    if (name === "help" || name === "--help") return readManual(context, "sched");
    const sub = Object.hasOwn(SUBCOMMANDS, name)
      ? SUBCOMMANDS[name]!
      : failUsage(`unknown subcommand ${name}: use one of ${Object.keys(SUBCOMMANDS).join(", ")}, help`);
    const { words, after, options } = parseOptions(args, { valued: sub.valued ?? [], flags: sub.flags ?? [] });
    return sub.run(context, { words: [...words, ...(after ?? [])], options });
  },
});

async function list({ link, who, env }: CommandContext, { words, options }: Parsed): Promise<Output> {
  if (words.length > 0) failUsage("list takes no words");
  const schedules = await listSchedules(link, who.uid, options.has("all"));
  if (options.has("json")) return { stdout: toJson(schedules) };
  if (schedules.length === 0) {
    const hint = options.has("all") ? "" : "; sched list --all includes disabled ones";
    return { stderr: `sched: no schedules yet: sched add every day at 9 TEXT makes one${hint}\n` };
  }
  const zone = readTimezone({ env }, undefined);
  const rows = schedules.map((schedule) => {
    const { id, enabled, name, expression, target, state } = schedule;
    const { nextRunAtMs, lastStatus, lastError } = state;
    return [
      id,
      enabled ? "yes" : "no",
      nextRunAtMs === null ? "-" : `${formatZonedTime(nextRunAtMs, zoneOf(expression, zone))} ${zoneOf(expression, zone)}`,
      state.runningAtMs === null ? (lastStatus ?? "-") : "running",
      lastError === null ? "-" : shorten(toLine(lastError), ERROR_CHARS),
      toLine(name),
      describeTarget(target),
      expression.kind === "at" || expression.kind === "after" ? "once" : toLine(schedule.says),
    ];
  });
  return { stdout: formatTable([["ID", "ENABLED", "NEXT", "LAST", "ERROR", "NAME", "TARGET", "WHEN"], ...rows]) };
}

async function add(context: CommandContext, { words, options }: Parsed): Promise<string> {
  const { link } = context;
  const json = options.get("json");
  if (json !== undefined)
    return describeAdded(context, await addSchedule(context, parseJsonOption("json", json) as Record<string, unknown>));
  const timezone = readTimezone(context, options.get("timezone"));
  const { when, text } = await readWhen(link, words, options, timezone);
  const said = (options.get("prompt") ?? options.get("message") ?? text).trim();
  if (said === "") failUsage("say what to do: sched add every day at 9 summarise my mail");
  const schedule = await addSchedule(context, {
    name: options.get("name") ?? shorten(toLine(said), NAME_CHARS),
    ...textOption(options, "description", "description"),
    ...(options.has("disabled") ? { enabled: false } : {}),
    expression: when.expression,
    target: readTarget(options, said),
    ...textOption(options, "catch-up", "catchUp"),
    ...textOption(options, "notify", "notify"),
  });
  return describeAdded(context, schedule, timezone);
}

async function addSchedule({ link }: CommandContext, args: Record<string, unknown>): Promise<ScheduleRecord> {
  const { schedule } = await link.runSyscall<{ schedule: ScheduleRecord }>("sched.add", args);
  return schedule;
}

/** Of one sentence, the part that is a time and the rest; with an option for the time, all words are the rest. */
async function readWhen(
  link: CommandContext["link"],
  words: readonly string[],
  options: Options,
  timezone: string | undefined,
): Promise<{ when: Preview; text: string }> {
  const named = WHEN.filter((name) => options.has(name));
  if (named.length > 1) failUsage(`give only one of --${named.join(" and --")}`);
  const zone = timezone === undefined ? {} : { timezone };
  const text = words.join(" ");
  const [name] = named;
  if (name === undefined) {
    const hasOwnText = options.has("prompt") || options.has("message");
    if (text.trim() === "") failUsage("say when and what: sched add every day at 9 summarise my mail");
    const when = await preview(link, { words: text, isSentence: !hasOwnText, ...zone });
    return { when, text: when.rest ?? "" };
  }
  const value = options.get(name)!;
  if (name === "cron") return { when: await preview(link, { words: `cron ${value}`, ...zone }), text };
  const expression: ScheduleExpression | null = name === "at" && /^\d{12,15}$/.test(value) ? { kind: "at", atMs: Number(value) } : null;
  if (expression !== null) return { when: await preview(link, { expression, ...zone }), text };
  const lead = name === "every" ? "every " : name === "after" ? "in " : "";
  return { when: await preview(link, { words: value.startsWith(lead) ? value : `${lead}${value}`, ...zone }), text };
}

function readTarget(options: Options, text: string): ScheduleTarget {
  const pid = options.get("pid");
  if (pid === undefined) {
    if (options.has("conversation") || options.has("data-json")) failUsage("--conversation and --data-json belong to --pid");
    return { kind: "process.spawn", ...textOption(options, "profile", "profile"), ...textOption(options, "label", "label"), prompt: text };
  }
  if (options.has("profile") || options.has("label")) failUsage("--profile and --label are for a new process, not for --pid");
  const data = options.get("data-json");
  return {
    kind: "process.event",
    pid,
    ...textOption(options, "conversation", "conversationId"),
    message: text,
    ...(data === undefined ? {} : { data: parseJsonOption("data-json", data) as Record<string, unknown> }),
  };
}

async function describeAdded(context: CommandContext, { id, name, enabled, says }: ScheduleRecord, zone?: string): Promise<string> {
  // It is added, whether or not its next runs can be shown.
  const shown = await previewSchedule(context, id, zone).catch(() => null);
  const when = shown === null ? `When: ${says}\n` : describePreview(shown, enabled);
  return `Added ${enabled ? "" : "(disabled) "}${id}: ${toLine(name)}\n${when}`;
}

async function show(context: CommandContext, { words, options }: Parsed): Promise<string> {
  const { link, who } = context;
  const id = await findScheduleId(context, oneWord(words));
  const schedule = (await listSchedules(link, who.uid, true)).find((one) => one.id === id);
  if (schedule === undefined) throw new CommandError(`no schedule ${id}: sched list --all shows yours`);
  if (options.has("json")) return toJson(schedule);
  const { name, description, enabled, target, catchUp, notify, state, creator } = schedule;
  const facts = [
    ["name", name],
    ["description", description ?? ""],
    ["enabled", enabled ? "yes" : `no${state.pausedBecause === null ? "" : `, paused: ${state.pausedBecause}`}`],
    ["target", describeTarget(target)],
    ["text", target.kind === "process.spawn" ? target.prompt : target.message],
    ["catch-up", catchUp],
    ["notify", notify],
    ["made by", creator.kind === "process" ? `process ${creator.pid}` : creator.username],
    ["runs", String(state.runCount)],
    ["last", `${state.lastStatus ?? "-"}${state.lastError === null ? "" : `: ${state.lastError}`}`],
  ];
  const text = facts.flatMap(([key, value]) => (value === "" ? [] : [`${key!.padEnd(12)}${toLine(value!)}\n`])).join("");
  return `id          ${id}\n${text}${describePreview(await previewSchedule(context, id), enabled)}`;
}

async function setEnabled(context: CommandContext, { words }: Parsed, enabled: boolean): Promise<string> {
  const id = await findScheduleId(context, oneWord(words));
  const { schedule } = await context.link.runSyscall<{ schedule: ScheduleRecord }>("sched.update", { id, patch: { enabled } });
  if (!enabled) return `Disabled ${id}: ${toLine(schedule.name)}\n`;
  const { nextRunAtMs } = schedule.state;
  const zone = zoneOf(schedule.expression, readTimezone(context, undefined));
  const next = nextRunAtMs === null ? "" : ` Next run: ${formatZonedTime(nextRunAtMs, zone)} (${zone})`;
  return `Enabled ${id}: ${toLine(schedule.name)}.${next}\n`;
}

async function remove(context: CommandContext, { words }: Parsed): Promise<string> {
  const id = await findScheduleId(context, oneWord(words));
  const { removed } = await context.link.runSyscall<{ removed: boolean }>("sched.remove", { id });
  if (!removed) throw new CommandError(`no schedule ${id}: sched list --all shows yours`);
  return `Removed ${id}\n`;
}

type Answer = { ran: number; results: { scheduleId: string; status: string; error?: string }[] };

async function run(context: CommandContext, { words, options }: Parsed): Promise<Output> {
  const isForced = options.has("force");
  if (words.length > 1) failUsage("give one schedule");
  if (isForced && words.length === 0) failUsage("--force needs a schedule");
  const id = words.length === 0 ? {} : { id: await findScheduleId(context, words[0]!) };
  const answer = await context.link.runSyscall<Answer>("sched.run", { ...id, mode: isForced ? "force" : "due" });
  return { stdout: toJson(answer), exitCode: answer.results.some(({ status }) => status === "error") ? 1 : 0 };
}

async function history(context: CommandContext, { words, options }: Parsed): Promise<Output> {
  const id = await findScheduleId(context, oneWord(words));
  const limit = options.has("limit") ? { limit: Number(options.get("limit")) } : {};
  const { runs, hasMore } = await context.link.runSyscall<{ runs: ScheduleRun[]; hasMore: boolean }>("sched.runs", { id, ...limit });
  if (options.has("json")) return { stdout: toJson(runs) };
  if (runs.length === 0) return { stderr: "sched: it has not run yet\n" };
  const zone = readTimezone(context, undefined) ?? "UTC";
  const rows = runs.map(({ startedAtMs, finishedAtMs, dueAtMs, status, missed, pid, error, summary }) => [
    formatZonedTime(startedAtMs, zone),
    dueAtMs === null ? "forced" : formatZonedTime(dueAtMs, zone),
    status,
    finishedAtMs === null ? "-" : `${((finishedAtMs - startedAtMs) / 1000).toFixed(1)} s`,
    missed === 0 ? "-" : String(missed),
    pid ?? "-",
    shorten(toLine(error ?? summary ?? ""), ERROR_CHARS) || "-",
  ]);
  const heading = [`STARTED (${zone})`, "DUE", "STATUS", "TOOK", "MISSED", "PROCESS", "RESULT"];
  return { stdout: formatTable([heading, ...rows]), ...(hasMore ? { stderr: "sched: there are more: use --limit\n" } : {}) };
}

async function showPreview(context: CommandContext, { words, options }: Parsed): Promise<string> {
  if (words.length === 0) failUsage("say when, such as: sched preview every weekday at 9");
  const timezone = readTimezone(context, options.get("timezone"));
  const count = options.has("count") ? { count: Number(options.get("count")) } : {};
  return describePreview(
    await preview(context.link, { words: words.join(" "), ...(timezone === undefined ? {} : { timezone }), ...count }),
  );
}

const ERROR_CHARS = 120;
const NAME_CHARS = 60;

function describeTarget(target: ScheduleTarget): string {
  return target.kind === "process.spawn" ? `spawn:${target.profile ?? "cron"}` : `event:${toLine(target.pid)}`;
}

function oneWord(words: readonly string[]): string {
  return words.length === 1 && words[0] !== "" ? words[0]! : failUsage("give one schedule; sched list --all shows yours");
}

function failUsage(message: string): never {
  throw new CommandError(message, 2);
}
