// What the commands sched and crontab share: finding schedules, their time zone, and showing when they run.

import { formatZonedTime } from "../lib/zoned-time.ts";
import { isTimezone } from "../lib/timezone.ts";
import type { ScheduleExpression, ScheduleRecord } from "../protocol/schedule-records.ts";
import { type CommandContext, CommandError } from "./command.ts";
import type { KernelClient } from "./kernel-client.ts";
import { toLine } from "./table.ts";

export type Preview = { expression: ScheduleExpression; says: string; timezone: string; nextRunsMs: number[]; rest?: string };

const PAGE = 500;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** All of the caller's schedules, the next to run first. */
export async function listSchedules(link: KernelClient, uid: number, includeDisabled: boolean): Promise<ScheduleRecord[]> {
  const found: ScheduleRecord[] = [];
  for (;;) {
    const args = { ownerUid: uid, includeDisabled, limit: PAGE, offset: found.length };
    const { schedules, count } = await link.runSyscall<{ schedules: ScheduleRecord[]; count: number }>("sched.list", args);
    found.push(...schedules);
    if (schedules.length === 0 || found.length >= count) return found;
  }
}

/** By its id, its name, or the beginning of either, which only one may have. */
export async function findScheduleId({ link, who }: CommandContext, wanted: string): Promise<string> {
  if (ID.test(wanted)) return wanted;
  const all = await listSchedules(link, who.uid, true);
  const named = all.filter(({ name }) => name === wanted);
  const start = wanted.toLowerCase();
  const found = named.length > 0 ? named : all.filter(({ id, name }) => [id, name.toLowerCase()].some((text) => text.startsWith(start)));
  if (found.length === 1) return found[0]!.id;
  if (found.length > 1)
    throw new CommandError(`${wanted} is ambiguous: ${found.map(({ id, name }) => `${id} (${toLine(name)})`).join(", ")}`);
  throw new CommandError(`no schedule ${wanted}: sched list --all shows yours`);
}

/** The zone that was named, the one of the terminal, or the gateway's (undefined). */
export function readTimezone({ env }: Pick<CommandContext, "env">, named: string | undefined): string | undefined {
  if (named !== undefined) return named;
  const ofTerminal = env.get("TZ");
  return ofTerminal !== undefined && ofTerminal !== "" && isTimezone(ofTerminal) ? ofTerminal : undefined;
}

export async function preview(link: KernelClient, args: Record<string, unknown>): Promise<Preview> {
  return link.runSyscall<Preview>("sched.preview", args);
}

/** When one of the caller's schedules runs next. */
export function previewSchedule(context: Pick<CommandContext, "link" | "env">, id: string, zone?: string): Promise<Preview> {
  const timezone = readTimezone(context, zone);
  return preview(context.link, { id, ...(timezone === undefined ? {} : { timezone }) });
}

/** What it says, and its next runs. */
export function describePreview({ says, nextRunsMs, timezone }: Preview, isEnabled = true): string {
  if (!isEnabled) return `When: ${says}\n`;
  const runs = nextRunsMs.map((ms) => `  ${formatZonedTime(ms, timezone)}\n`).join("");
  return `When: ${says}\nNext runs (${timezone}):\n${runs === "" ? "  none\n" : runs}`;
}

/** The zone in which to show when a schedule runs. */
export function zoneOf(expression: ScheduleExpression, otherwise: string | undefined): string {
  return expression.kind === "cron" ? expression.timezone : (otherwise ?? "UTC");
}
