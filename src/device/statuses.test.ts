// The events about commands that the gateway receives, across disconnects and in order.

import { beforeEach, expect, it } from "vitest";
import type { Exit } from "../ports/shells.ts";
import { type ExecEvent, CommandStatusReporter } from "./statuses.ts";

let isUp: boolean;
let sent: ExecEvent[];
let statuses: CommandStatusReporter;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const names = () => sent.map(({ sessionId, event }) => `${sessionId} ${event}`);

beforeEach(() => {
  [isUp, sent] = [true, []];
  statuses = new CommandStatusReporter((event) => {
    if (isUp) sent.push(event);
    return isUp;
  });
});

function begin(sessionId: string): (exit: Exit) => void {
  let end: (exit: Exit) => void = () => {};
  statuses.track(
    sessionId,
    new Promise((resolve) => {
      end = resolve;
    }),
  );
  return end;
}

it("reports commands that outlive their call, and no others", async () => {
  begin("short")({ exitCode: 0 });
  const ends = ["a", "b", "c"].map(begin);
  for (const sessionId of ["a", "b", "c", "a"]) statuses.reportStart(sessionId, `call of ${sessionId}`);
  ends[0]!({ exitCode: 0 });
  ends[1]!({ exitCode: 3 });
  ends[2]!({ exitCode: 124, error: "Command timed out after 5ms" });
  await nextTurn();
  await nextTurn();
  expect(names()).toEqual(["a started", "b started", "c started", "a finished", "b failed", "c timed_out"]);
  expect(sent[0]).toMatchObject({ callId: "call of a" });
  expect(sent[4]).toMatchObject({ exitCode: 3 });
});

it("keeps events while disconnected, and resends those a disconnect may have lost", async () => {
  const end = begin("a");
  statuses.reportStart("a", "call");
  await nextTurn();
  isUp = false;
  statuses.onDisconnect();
  end({ exitCode: 0 });
  await nextTurn();
  await nextTurn();
  expect(names()).toEqual(["a started"]);
  isUp = true;
  statuses.flush();
  statuses.flush();
  expect(names()).toEqual(["a started", "a started", "a finished"]);
  expect(sent[1]!.eventId).toBe(sent[0]!.eventId);
});
