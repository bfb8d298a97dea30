// Adds schedules and waits for their runs, for cases.

import { expect } from "vitest";
import type { Client } from "../../src/client/client.ts";
import type { Arguments, CallResult } from "../../src/client/connection.ts";

export type NewSchedule = Arguments<"sched.add">;
export type Schedule = CallResult<"sched.add">["schedule"];
export type Run = CallResult<"sched.runs">["runs"][number];

export const ABSENT = "00000000-0000-4000-8000-000000000000";
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Does not run while cases do. */
export const YEARLY = { kind: "cron" as const, expr: "0 0 1 1 *", timezone: "UTC" };
export const SOON = { kind: "after" as const, afterMs: 1_000 };
export const SPAWN = { kind: "process.spawn" as const, prompt: "Do it." };
/** What cannot be started. */
export const NOWHERE = { ...SPAWN, workspace: { mode: "attach" as const, workspaceId: "ws_none" } };

export async function addSchedule(client: Client, args: Partial<NewSchedule> = {}): Promise<Schedule> {
  return (await client.call("sched.add", { name: "Test", expression: YEARLY, target: SPAWN, ...args })).schedule;
}

export async function findSchedule(client: Client, id: string): Promise<Schedule | undefined> {
  return (await client.call("sched.list", { includeDisabled: true, limit: 500 })).schedules.find((one) => one.id === id);
}

export async function listRuns(client: Client, id: string): Promise<Run[]> {
  return (await client.call("sched.runs", { id })).runs;
}

/** The newest run, as soon as it has ended. */
export async function waitForRun(client: Client, id: string): Promise<Run> {
  await expect.poll(async () => (await listRuns(client, id))[0]?.finishedAtMs ?? null, { message: `end of a run of ${id}` }).not.toBeNull();
  return (await listRuns(client, id))[0]!;
}

/** Runs it, and waits until its process has answered. */
export async function runNow(client: Client, id: string): Promise<Run> {
  expect(await client.call("sched.run", { id, mode: "force" })).toMatchObject({ ran: 1, results: [{ scheduleId: id, status: "ok" }] });
  return waitForRun(client, id);
}
