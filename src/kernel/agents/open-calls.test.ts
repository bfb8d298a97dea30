import { beforeEach, expect, it } from "vitest";
import { SysError } from "../../lib/sys-error.ts";
import { STOPPED } from "../../process/kernel-port.ts";
import { fakeStore } from "../../../test/support/fake-store.ts";
import { type CallInfo, OpenCalls } from "./open-calls.ts";

let now: number;
let calls: OpenCalls;
beforeEach(() => {
  now = 0;
  calls = new OpenCalls(
    fakeStore({
      get now() {
        return now;
      },
    }),
  );
});

const about = (more: Partial<CallInfo> = {}): CallInfo => ({
  pid: "p",
  runId: "r",
  callId: "c",
  target: "laptop",
  command: "sleep 97",
  ...more,
});
const NEVER = new AbortController().signal;
const untilStopped = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) => signal.addEventListener("abort", () => resolve(signal.reason), { once: true }));

it("stops the calls of a run and no others", async () => {
  const mine = calls.run(about(), NEVER, untilStopped);
  const other = calls.run(about({ runId: "another" }), NEVER, untilStopped);
  expect(await calls.stop("p", calls.listByProcess("p", "r"), "r")).toEqual([]);
  expect(await mine).toBe(STOPPED);
  expect(await calls.stop("p", calls.listByProcess("p"))).toEqual([]);
  expect(await other).toBe(STOPPED);
});

it("returns calls that have not answered in time", async () => {
  void calls.run(about(), NEVER, () => new Promise(() => {}));
  const stopped = calls.stop("p", calls.listByProcess("p", "r"), "r");
  now = calls.nextDueAt()!;
  calls.onWake(now);
  expect(await stopped).toMatchObject([{ target: "laptop", command: "sleep 97" }]);
});

it("returns calls with an unknown outcome, also if they ended before stop was called", async () => {
  const process = new AbortController();
  const lost = calls.run(about(), process.signal, async (signal) => {
    await untilStopped(signal);
    throw new SysError(503, "Device disconnected: laptop", { outcome: "unknown" });
  });
  process.abort(STOPPED);
  await expect(lost).rejects.toThrow("disconnected");
  expect(await calls.stop("p", calls.listByProcess("p", "r"), "r")).toEqual([
    { target: "laptop", command: "sleep 97", why: "Device disconnected: laptop" },
  ]);
  expect(await calls.stop("p", calls.listByProcess("p", "r"), "r")).toEqual([]);
});

it("does not return a call that was aborted without a stop", async () => {
  const process = new AbortController();
  const left = calls.run(about(), process.signal, async (signal) => {
    await untilStopped(signal);
    throw new SysError(503, "The call was cancelled", { outcome: "unknown" });
  });
  process.abort(null);
  await expect(left).rejects.toThrow("was cancelled");
  expect(await calls.stop("p", calls.listByProcess("p", "r"), "r")).toEqual([]);
});

it("waits for other work as long as for calls", async () => {
  expect(await calls.waitWithTimeout(Promise.resolve(1), 2)).toBe(1);
  const late = calls.waitWithTimeout(new Promise<number>(() => {}), 2);
  now = calls.nextDueAt()!;
  calls.onWake(now);
  expect(await late).toBe(2);
});
