// crontab: the caller's schedules that have a cron expression, as the table that people know. What is installed is compared with the
// schedules, and only what differs is changed. Every line is checked before anything is changed; what the gateway refuses nevertheless, such
// as more schedules than a user may have, is reported together with what was changed before.

import { shorten } from "../../lib/shorten.ts";
import type { ScheduleRecord, ScheduleTarget } from "../../protocol/schedule-records.ts";
import { defineCommandFile, type CommandContext, CommandError, type Output } from "../command.ts";
import { entryText, formatCrontab, type CrontabEntry, parseCrontab } from "../crontab-text.ts";
import { readManual } from "../manual.ts";
import { listSchedules, preview, type Preview, readTimezone } from "../schedules.ts";
import { toLine } from "../table.ts";

const DOC = `Show and edit schedules as a crontab.

crontab -l: print it. crontab FILE, or - for the standard input: install it; what is no longer in it is removed. crontab -r: remove all of it. crontab -e: edit it with the command in EDITOR. Agents can only print it.
A line is five fields and what to do: minute, hour, day of month, month, day of week, and a text for a new process (profile cron), or @PID and a text for that process. A % in the text is the end of a line, \\% is a %, and \\\\ is a \\. @daily and its like may stand for the five fields. CRON_TZ=ZONE, or TZ=ZONE, is the time zone of the lines below it.
The comment above a line is the schedule's id and name: keep it with its line, and a changed line changes that schedule; a line without one is a new schedule. A line that starts with #: is disabled.
Schedules of other kinds (sched list) are not in it, and stay as they are.`;

export default defineCommandFile({
  name: "crontab",
  usage: "-l | -e | -r | FILE | -",
  doc: DOC,
  async run(context, args): Promise<Output | string> {
    const [first, ...rest] = args;
    if (rest.length > 0) throw new CommandError("give one of -l, -e, -r, FILE and -", 2);
    switch (first) {
      case "-l":
      case undefined:
        return print(context);
      case "-r":
        mustBePerson(context);
        return removeAll(context);
      case "-e":
        mustBePerson(context);
        return edit(context);
      case "--help":
        return readManual(context, "crontab");
      default:
        if (first.startsWith("-") && first !== "-") throw new CommandError(`unknown option ${first}: use -l, -e, -r, FILE or -`, 2);
        mustBePerson(context);
        return install(context, new TextDecoder().decode(await context.read(first)));
    }
  },
});

/** Who approves the command of an agent sees no file: what sched adds is in the command itself. */
function mustBePerson({ who }: CommandContext): void {
  if (who.isAgent) throw new CommandError("only people install a crontab: use sched add, so that a person sees what they allow", 2);
}

async function listCron({ link, who }: CommandContext): Promise<ScheduleRecord[]> {
  const all = await listSchedules(link, who.uid, true);
  // In the order in which they were made, so that the table does not change when one has run.
  return all.filter(({ expression }) => expression.kind === "cron").toSorted((a, b) => a.createdAtMs - b.createdAtMs);
}

async function print(context: CommandContext): Promise<Output> {
  const schedules = await listCron(context);
  return { stdout: formatCrontab(schedules, readTimezone(context, undefined)) };
}

async function removeAll(context: CommandContext): Promise<string> {
  const schedules = await listCron(context);
  for (const { id } of schedules) await context.link.runSyscall("sched.remove", { id });
  return `Removed ${schedules.length}\n`;
}

async function edit(context: CommandContext): Promise<Output | string> {
  const editor = (context.env.get("VISUAL") || context.env.get("EDITOR") || "").trim();
  if (editor === "")
    throw new CommandError("there is no EDITOR: use crontab -l > FILE, edit it and crontab FILE, or gsv crontab -e on your computer");
  const before = formatCrontab(await listCron(context), readTimezone(context, undefined));
  const path = `/tmp/crontab-${context.who.uid}-${Date.now()}`;
  await context.link.write(path, new Uint8Array());
  await context.link.setMode(path, 0o600);
  await context.link.write(path, new TextEncoder().encode(before));
  let isInstalling = false;
  try {
    const { exitCode, stderr } = await context.exec(["bash", "-c", `${editor} "$1"`, "crontab", path], { withInput: true });
    if (exitCode !== 0) throw new CommandError(`the editor ended with ${exitCode}, and nothing was changed. ${stderr.trim()}`.trim());
    const after = new TextDecoder().decode(await context.read(path));
    if (after === before) return "No changes\n";
    isInstalling = true;
    const done = await install(context, after);
    isInstalling = false;
    return done;
  } catch (error) {
    if (!isInstalling) throw error;
    throw new CommandError(`${messageOf(error)}. What you wrote is still in ${path}: correct it, and install it with crontab ${path}`);
  } finally {
    if (!isInstalling) await context.link.remove(path);
  }
}

/** `line` is where it is in the table; what is removed is in no line. */
type Change = { line?: number; call: string; args: Record<string, unknown>; target?: ScheduleTarget | undefined; says: string };

async function install(context: CommandContext, text: string): Promise<string> {
  const changes = await planChanges(context, text);
  for (const [at, { line, call, args }] of changes.entries())
    try {
      await context.link.runSyscall(call, args);
    } catch (error) {
      const done = changes.slice(0, at).map(({ says }) => says);
      const what = done.length === 0 ? "nothing was changed" : `before that: ${done.join(", ")}`;
      throw new CommandError(`${line === undefined ? "" : `line ${line}: `}${messageOf(error)}; ${what}`);
    }
  return changes.length === 0 ? "No changes\n" : changes.map(({ says }) => `${says}\n`).join("");
}

/** Fails if a line is wrong. Nothing is removed before everything else was accepted. */
async function planChanges(context: CommandContext, text: string): Promise<Change[]> {
  const existing = await listCron(context);
  const changes: Change[] = [];
  const kept = new Set<string>();
  for (const entry of parseCrontab(text, readTimezone(context, undefined))) {
    const { expression } = await checkLine(context, entry);
    const known = existing.find(({ id }) => id === entry.id && !kept.has(id));
    if (known === undefined) changes.push(makeAddition(entry, expression));
    else {
      kept.add(known.id);
      const patch = findDifferences(known, entry, expression);
      if (Object.keys(patch).length > 0) changes.push(makeUpdate(entry, known, patch));
    }
  }
  await checkProcesses(context, changes);
  const removals = existing.filter(({ id }) => !kept.has(id));
  return [...changes, ...removals.map(({ id, name }) => ({ call: "sched.remove", args: { id }, says: `removed ${toLine(name)}` }))];
}

async function checkProcesses({ link }: CommandContext, changes: readonly Change[]): Promise<void> {
  const named = changes.flatMap(({ line, target }) => {
    const pid = target?.kind === "process.event" ? target.pid : target?.parentPid;
    return pid === undefined ? [] : [{ line, pid }];
  });
  if (named.length === 0) return;
  const { processes } = await link.runSyscall<{ processes: { pid: string }[] }>("proc.list", {});
  const known = new Set(processes.map(({ pid }) => pid));
  const missing = named.find(({ pid }) => !known.has(pid));
  if (missing !== undefined)
    throw new CommandError(`line ${missing.line}: there is no process ${toLine(missing.pid)}: ps shows yours; nothing was changed`);
}

async function checkLine({ link }: CommandContext, { line, name, expr, timezone, text }: CrontabEntry): Promise<Preview> {
  if (text === "") throw new CommandError(`line ${line}: it does not say what to do; nothing was changed`);
  if (name !== null && name.length > NAME_CHARS_MAX)
    throw new CommandError(`line ${line}: the name above it has more than ${NAME_CHARS_MAX} characters; nothing was changed`);
  try {
    return await preview(link, { words: `cron ${expr}`, ...(timezone === undefined ? {} : { timezone }) });
  } catch (error) {
    throw new CommandError(`line ${line}: ${messageOf(error)}; nothing was changed`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const NAME_CHARS = 60;
const NAME_CHARS_MAX = 200;

function makeAddition({ line, name, enabled, pid, text }: CrontabEntry, expression: unknown): Change {
  const target: ScheduleTarget = pid === null ? { kind: "process.spawn", prompt: text } : { kind: "process.event", pid, message: text };
  const shown = name ?? shorten(toLine(text), NAME_CHARS);
  return { line, call: "sched.add", args: { name: shown, enabled, expression, target }, target, says: `added ${shown}` };
}

type Patch = Partial<Pick<ScheduleRecord, "expression" | "target" | "name" | "enabled">>;

function makeUpdate({ line }: CrontabEntry, { id, name }: ScheduleRecord, patch: Patch): Change {
  return { line, call: "sched.update", args: { id, patch }, target: patch.target, says: `changed ${toLine(name)}` };
}

function findDifferences(
  known: ScheduleRecord,
  { name, enabled, pid, text }: CrontabEntry,
  expression: ScheduleRecord["expression"],
): Patch {
  const isSame = JSON.stringify(normalize(known.expression)) === JSON.stringify(normalize(expression));
  const { target } = known;
  const isSameTarget = entryText(target) === text && (target.kind === "process.event" ? target.pid : null) === pid;
  return {
    ...(isSame ? {} : { expression }),
    ...(isSameTarget ? {} : { target: changeTarget(target, pid, text) }),
    ...(name === null || name === toLine(known.name) ? {} : { name }),
    ...(enabled === known.enabled ? {} : { enabled }),
  };
}

/** Spaces between the fields mean nothing. */
function normalize(expression: ScheduleRecord["expression"]): ScheduleRecord["expression"] {
  return expression.kind === "cron" ? { ...expression, expr: expression.expr.trim().replaceAll(/\s+/g, " ") } : expression;
}

/** What the table does not show stays, as long as the kind of the target does. */
function changeTarget(target: ScheduleRecord["target"], pid: string | null, text: string): ScheduleRecord["target"] {
  if (pid === null) return target.kind === "process.spawn" ? { ...target, prompt: text } : { kind: "process.spawn", prompt: text };
  return target.kind === "process.event" ? { ...target, pid, message: text } : { kind: "process.event", pid, message: text };
}
