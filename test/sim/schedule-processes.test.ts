// Which processes of earlier runs a schedule uses again.

import { beforeEach, expect, it } from "vitest";
import { addSchedule, endRuns, HOUR_MS, INIT, listPids, listTexts, sayAlone, SECOND_MS } from "./scheduling.ts";
import { TimedWorld } from "./timed-world.ts";

const PROCESSES = 20;

let world: TimedWorld;
let id: string;
/** In the order in which they were used. */
let pids: string[];

beforeEach(async () => {
  world = await TimedWorld.make();
  id = await addSchedule(world, { kind: "every", everyMs: HOUR_MS }, { target: { ...sayAlone("write a report"), profile: "task" } });
  pids = [];
  for (let at = 0; at < PROCESSES; at++) pids.push(await passToNextRun());
});

async function passToNextRun(): Promise<string> {
  await world.pass(HOUR_MS);
  const { pid, status } = (await endRuns(world, id)).at(-1)!;
  expect(status).toBe("ok");
  return pid!;
}

it("one that another process has answered, because it had asked", async () => {
  await world.callAs(pids[0]!, "proc.ipc.call", { pid: INIT, message: "hello" });
  await world.pass(SECOND_MS);
  expect((await listTexts(world, pids[0]!)).at(-1)).toContain("ipc.reply");
  expect(await passToNextRun()).toBe(pids[0]);
  expect(await listTexts(world, pids[0]!)).toEqual(["write a report"]);
});

it("one that was told of a signal", async () => {
  await world.call("signal.watch", { signal: "proc.run.finished", pid: pids[0], processId: INIT });
  await world.call("proc.send", { message: "work" });
  await world.pass(SECOND_MS);
  expect((await listTexts(world, pids[0]!)).at(-1)).toContain("signal.watch");
  expect(await passToNextRun()).toBe(pids[0]);
});

it.each(["proc.ipc.send", "proc.ipc.call"])("none that another process has begun to talk to with %s", async (call) => {
  await world.callAs(INIT, call, { pid: pids[0], message: "tell me more" });
  await world.pass(SECOND_MS);
  expect(pids).not.toContain(await passToNextRun());
  expect((await listTexts(world, pids[0]!)).length).toBe(2);
  expect((await listPids(world)).length).toBe(PROCESSES + 1);
});
