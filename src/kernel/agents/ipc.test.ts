// How long the kernel retries to deliver an answer to the process that called.

import { expect, it } from "vitest";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { SysError } from "../../lib/sys-error.ts";
import { NodeSql } from "../../hosts/node/sql.ts";
import { fakeStore } from "../../../test/support/fake-store.ts";
import { IpcCalls } from "../nouns/ipc-calls.ts";
import { ProcessOrigins } from "../nouns/process-origins.ts";
import { migrate } from "../schema/migrate.ts";
import { Ipc } from "./ipc.ts";

const DAY_MS = 24 * 60 * 60_000;

it("retries an undelivered answer at growing intervals, and gives up after a day", async () => {
  const sql = new NodeSql(":memory:", () => {});
  migrate(sql);
  const ipcCalls = new IpcCalls(sql);
  const world = { now: 1_000_000, said: 0, log: [] as string[] };
  const nouns = {
    ipcCalls,
    processOrigins: new ProcessOrigins(sql),
    processes: { get: (pid: string) => ({ pid }) },
    get now() {
      return world.now;
    },
  };
  const ports = { crypto: { uuid: () => "id" }, log: { error: (message: string) => world.log.push(message) } };
  const ipc = new Ipc(fakeStore(nouns, { ports }), async () => {
    world.said++;
    throw new SysError(429, "Too many messages are waiting");
  });
  const from = { uid: 1000, sourcePid: "a", conversationId: "default", posture: "careful" as const };
  ipcCalls.add({ callId: "c", ...from, targetPid: "b", runId: "r", createdAt: world.now, deadlineAt: world.now + 60_000 });
  const until = world.now + 7 * DAY_MS;
  for (let dueAt = ipc.nextDueAt(); dueAt !== null && dueAt < until; dueAt = ipc.nextDueAt()) {
    world.now = dueAt;
    ipc.onWake(world.now);
    await yieldToEventLoop();
    expect(world.said).toBeLessThan(200);
  }
  expect(world.now - 1_000_000).toBeLessThan(3 * DAY_MS);
  expect(ipc.nextDueAt()).toBe(null);
  expect(nouns.processOrigins.listRunIds("a")).toEqual([]);
  expect(world.log.at(-1)).toBe("gave up delivering the answer to an IPC call");
  sql.close();
});
