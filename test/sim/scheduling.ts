// What tests of schedules ask a timed world for.

import type { ScheduleExpression, ScheduleRecord, ScheduleRun, ScheduleTarget } from "../../src/protocol/schedule-records.ts";
import type { NotificationRecord } from "../../src/protocol/notification-records.ts";
import type { Data } from "./requests.ts";
import type { TimedWorld } from "./timed-world.ts";

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const YEAR_MS = 365 * DAY_MS;
export const INIT = "init:1000";
export const EVERY_MINUTE: ScheduleExpression = { kind: "every", everyMs: MINUTE_MS };

export const sayAlone = (prompt: string): ScheduleTarget => ({ kind: "process.spawn", prompt });
export const tellInit = (message: string): ScheduleTarget => ({ kind: "process.event", pid: INIT, message });

/** Without a target, it starts a process whose model answers at once. */
export async function addSchedule(world: TimedWorld, expression: ScheduleExpression, more: Data = {}, by = world.alice): Promise<string> {
  const args = { name: "report", expression, target: sayAlone("write a report"), notify: "failures", ...more };
  return (await world.call<{ schedule: ScheduleRecord }>("sched.add", args, by)).schedule.id;
}

export async function findSchedule(world: TimedWorld, id: string): Promise<ScheduleRecord> {
  const { schedules } = await world.call<{ schedules: ScheduleRecord[] }>("sched.list", { includeDisabled: true, limit: 500 }, world.root);
  return schedules.find((one) => one.id === id)!;
}

/** Oldest first. */
export async function listRuns(world: TimedWorld, id: string): Promise<ScheduleRun[]> {
  const { runs } = await world.call<{ runs: ScheduleRun[] }>("sched.runs", { id, limit: 200 }, world.root);
  return runs.toReversed();
}

/** Lets time pass until all runs of a schedule have ended. Returns them, oldest first. */
export async function endRuns(world: TimedWorld, id: string): Promise<ScheduleRun[]> {
  const isOpen = () => world.sql.inspect(`SELECT 1 FROM schedule_runs WHERE schedule_id = '${id}' AND finished_at IS NULL`).length > 0;
  await world.passUntil(() => !isOpen(), "the end of all runs");
  return listRuns(world, id);
}

/** Without the processes that people always have. */
export async function listPids(world: TimedWorld): Promise<string[]> {
  const { processes } = await world.call<{ processes: { pid: string }[] }>("proc.list", {}, world.root);
  return processes.map(({ pid }) => pid).filter((pid) => !pid.startsWith("init:"));
}

/** What a process was told, by people, schedules and watches. */
export async function listTexts(world: TimedWorld, pid: string): Promise<string[]> {
  type History = { messages: { role: string; content: unknown }[] };
  const { messages } = await world.call<History>("proc.history", { pid, limit: 1_000 }, world.root);
  return messages.filter(({ role }) => role === "user" || role === "system").map(({ content }) => textOf(content));
}

/** All processes together. */
export async function countTexts(world: TimedWorld, part: string): Promise<number> {
  let count = 0;
  for (const pid of [INIT, ...(await listPids(world))]) count += (await listTexts(world, pid)).filter((text) => text.includes(part)).length;
  return count;
}

/** The values in the blocks of JSON of a text. */
export function readBlocks(text: string): Data[] {
  return [...text.matchAll(/```json\n([^`]*)\n```/g)].map(([, json]) => JSON.parse(json!) as Data);
}

export async function listNotifications(world: TimedWorld, args: Data = {}): Promise<NotificationRecord[]> {
  return (await world.call<{ notifications: NotificationRecord[] }>("notification.list", args)).notifications;
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : String((content as { text?: unknown }).text);
}
