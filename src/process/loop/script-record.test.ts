// Which calls of a script are kept, and how much of each.

import { expect, test } from "vitest";
import type { ProcessEvent } from "../../protocol/signals.ts";
import { ScriptRecord } from "./script-record.ts";

const call = (callId: string, args: Record<string, unknown> = { path: callId }) => ({ callId, name: "Read", args, ok: true });

test("keeps the last hundred calls, and counts all", () => {
  const record = new ScriptRecord();
  for (let at = 0; at < 250; at++) record.add(call(`c${at}`));
  expect(record.list!.count).toBe(250);
  expect(record.list!.calls.map(({ callId }) => callId)).toEqual(Array.from({ length: 100 }, (_, at) => `c${at + 150}`));
});

test("keeps the beginnings of arguments and errors", () => {
  const record = new ScriptRecord();
  record.add({
    ...call("c", { content: "x".repeat(1_000_000), list: Array.from({ length: 1_000 }, () => 1) }),
    ok: false,
    error: "e".repeat(1_000),
  });
  expect(JSON.stringify(record.list).length).toBeLessThan(1_000);
  expect(record.list!.calls[0]).toMatchObject({
    args: { content: expect.stringMatching(/^x{120}…$/) as string },
    error: `${"e".repeat(300)}…`,
  });
});

test("keeps the first of many arguments", () => {
  const record = new ScriptRecord();
  record.add(call("many", Object.fromEntries(Array.from({ length: 5_000 }, (_, key) => [`key${key}`, "v"]))));
  record.add(call("long", { ["k".repeat(100_000)]: 1 }));
  const [many, long] = record.list!.calls;
  expect(many!.args).toMatchObject({ key0: "v", key50: "v" });
  expect(JSON.stringify(many).length).toBeLessThan(2_000);
  expect(long!.args).toEqual({});
});

test("has no list without calls", () => {
  expect(new ScriptRecord().list).toBeUndefined();
  expect(ScriptRecord.fromEvents([]).list).toBeUndefined();
});

test("is made again from events, with arguments from the start, the question or the end of a call", () => {
  const of = {
    pid: "p",
    runId: "r",
    conversationId: "default",
    timestamp: 1,
    queuedCount: 0,
    scriptCallId: "s",
    name: "Read",
    syscall: "fs.read",
  };
  const events: ProcessEvent[] = [
    { seq: 1, signal: "proc.run.tool.started", payload: { ...of, callId: "1", args: { path: "a" } } },
    { seq: 2, signal: "proc.run.tool.finished", payload: { ...of, callId: "1", ok: true, output: "text", durationMs: 3 } },
    { seq: 3, signal: "proc.run.tool.finished", payload: { ...of, callId: "2", ok: false, error: "no", args: { path: "b" } } },
  ];
  expect(ScriptRecord.fromEvents(events).list).toEqual({
    count: 2,
    calls: [
      { callId: "1", name: "Read", args: { path: "a" }, ok: true, durationMs: 3 },
      { callId: "2", name: "Read", args: { path: "b" }, ok: false, error: "no" },
    ],
  });
});
