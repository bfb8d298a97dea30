// The text of a crontab, both ways.

import type { ScheduleRecord, ScheduleTarget } from "../protocol/schedule-records.ts";
import { CommandError } from "./command.ts";
import { toLine } from "./table.ts";

export type CrontabEntry = {
  line: number;
  /** From the comment above the line; null for a new schedule. */
  id: string | null;
  name: string | null;
  enabled: boolean;
  expr: string;
  timezone: string | undefined;
  /** The process that gets the text; null to start one. */
  pid: string | null;
  text: string;
};

const OFF = "#: ";
const ID = /^#\s*([0-9a-f]{8}-[0-9a-f-]{27})(?:\s+(.*))?$/;
const ZONE = /^(?:CRON_TZ|TZ)\s*=\s*(\S*)\s*$/;
const ENTRY = /^(@\w+|\S+\s+\S+\s+\S+\s+\S+\s+\S+)(?:\s+([^]*))?$/;
const HEADING = "# Schedules with cron expressions; man crontab explains the format. Times are local to CRON_TZ.\n";

export function formatCrontab(schedules: readonly ScheduleRecord[], timezone: string | undefined): string {
  let zone: string | undefined;
  let text = HEADING;
  if (schedules.length === 0) text += `${timezone === undefined ? "" : `CRON_TZ=${timezone}\n`}# minute hour day month weekday text\n`;
  for (const { id, name, enabled, expression, target } of schedules) {
    if (expression.kind !== "cron") continue;
    if (expression.timezone !== zone) text += `CRON_TZ=${(zone = expression.timezone)}\n`;
    const to = target.kind === "process.event" ? `@${target.pid} ` : "";
    const said = entryText(target);
    const escaped = said.replaceAll("\\", "\\\\").replaceAll("%", "\\%").replaceAll("\n", "%");
    // Otherwise it would be read as a process.
    const quoted = to === "" && said.startsWith("@") ? `\\${escaped}` : escaped;
    text += `# ${id} ${toLine(name)}\n${enabled ? "" : OFF}${expression.expr} ${to}${quoted}\n`;
  }
  return text;
}

export function entryText(target: ScheduleTarget): string {
  return target.kind === "process.spawn" ? target.prompt : target.message;
}

export function parseCrontab(text: string, timezone: string | undefined): CrontabEntry[] {
  const entries: CrontabEntry[] = [];
  let zone = timezone;
  let above: { id: string; name: string | null } | null = null;
  for (const [at, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    const [, id, name = ""] = ID.exec(line) ?? [];
    const [, named] = ZONE.exec(line) ?? [];
    if (id !== undefined) above = { id, name: name.trim() || null };
    else if (named !== undefined) zone = named.replaceAll(/^["']|["']$/g, "");
    else if (line !== "" && (!line.startsWith("#") || line.startsWith(OFF))) {
      entries.push({ ...readEntry(line, at + 1), id: above?.id ?? null, name: above?.name ?? null, timezone: zone });
      above = null;
    }
  }
  return entries;
}

function readEntry(line: string, number: number): Omit<CrontabEntry, "id" | "name" | "timezone"> {
  const enabled = !line.startsWith(OFF);
  const [, expr, rest = ""] = ENTRY.exec(enabled ? line : line.slice(OFF.length).trim()) ?? [];
  if (expr === undefined) throw new CommandError(`line ${number}: write minute hour day month weekday and a text; nothing was changed`);
  const [, pid, message] = /^@(\S+)\s+([^]*)$/.exec(rest) ?? [];
  const said = pid === undefined ? rest.replace(/^\\@/, "@") : message!;
  const text = said.replaceAll(/\\\\|\\%|%/g, (mark) => (mark === "%" ? "\n" : mark.slice(1))).trim();
  return { line: number, enabled, expr: expr.replaceAll(/\s+/g, " "), pid: pid ?? null, text };
}
