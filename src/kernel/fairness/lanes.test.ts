// Calls of which only a few run at once per user: which starts when, and which is refused.

import { expect, test } from "vitest";
import type { Caller } from "../../protocol/caller.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { fakeStore } from "../../../test/support/fake-store.ts";
import { Lanes } from "./lanes.ts";
import type { Shares } from "./shares.ts";

const CALLER = { uid: 1000, connectionId: "c1" } as Caller;
const PRESENT = { ...CALLER, capabilities: ["*"] };
const SEARCH = { name: "fs.search", isExpensive: true } as const;
const READ = { name: "fs.read", atOnce: 2 };
const NEVER = new AbortController().signal;

function world() {
  let now = 1_000_000;
  let dueAt: number | null = null;
  const full = new Set<string>();
  let busy: (() => void)[] | null = null;
  const ports = { clock: { now: () => now, elapsed: () => now }, sockets: { isFull: (connectionId: string) => full.has(connectionId) } };
  const store = fakeStore({ connections: { caller: () => PRESENT } }, { ports, wakeBy: (at) => (dueAt = at) });
  const shares = {
    runOrQueue: (_uid: number, work: () => void) => (busy === null ? work() : void busy.push(work)),
    charge: () => {},
  } as unknown as Shares;
  const lanes = new Lanes(store, shares);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (name: string, kind: Parameters<Lanes["run"]>[0] = SEARCH, caller = CALLER, signal = NEVER) =>
    lanes.run(kind, caller, signal, async () => {
      started.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return { data: name, after: [] };
    });
  /** Answers the call and runs its `after` actions. */
  const answer = async (name: string, asked: ReturnType<typeof ask>) => {
    ends.get(name)!();
    for (const action of (await asked).after) action();
    await Promise.resolve();
  };
  return {
    lanes,
    started,
    ask,
    answer,
    dueAt: () => dueAt,
    pass: (ms: number) => lanes.onWake((now += ms)),
    full,
    read: (connectionId: string) => {
      full.delete(connectionId);
      lanes.onSocketDrained(connectionId);
    },
    /** While true, the user has used up their share: calls that may start wait for it. */
    busy: (isBusy: boolean) => {
      const delayed = busy ?? [];
      busy = isBusy ? [] : null;
      for (const work of delayed) work();
    },
  };
}

const nextTask = () => new Promise((resolve) => setTimeout(resolve, 0));

test("runs as many calls at once as the call declares; the next starts when one has been answered", async () => {
  const { started, ask, answer } = world();
  const [a] = [ask("a", READ), ask("b", READ), ask("c", READ)];
  await nextTask();
  expect(started).toEqual(["a", "b"]);
  await answer("a", a);
  await nextTask();
  expect(started).toEqual(["a", "b", "c"]);
});

test("users and kinds of calls do not wait for each other", async () => {
  const { started, ask } = world();
  void ask("mine");
  void ask("mine, later");
  void ask("other call", READ);
  void ask("other user", SEARCH, { ...CALLER, uid: 1001 });
  await nextTask();
  expect(started).toEqual(["mine", "other call", "other user"]);
});

test("starts no call of a connection that does not read its answers, while the user's other connections continue", async () => {
  const { started, ask, answer, full, read } = world();
  const a = ask("a");
  void ask("b");
  full.add("c1");
  await answer("a", a);
  await nextTask();
  expect(started).toEqual(["a"]);
  const c = ask("c", SEARCH, { ...CALLER, connectionId: "c2" });
  await nextTask();
  expect(started).toEqual(["a", "c"]);
  await answer("c", c);
  read("c1");
  await nextTask();
  expect(started).toEqual(["a", "c", "b"]);
});

test("a connection that closes does not block the calls behind it", async () => {
  const { lanes, started, ask, answer, full } = world();
  const a = ask("a");
  void ask("b");
  full.add("c1");
  await answer("a", a);
  full.delete("c1");
  lanes.onSocketClosed("c1");
  await nextTask();
  expect(started).toEqual(["a", "b"]);
});

test("expensive calls start in a burst, then at a limited rate, and are refused once too many wait", async () => {
  const { started, ask, answer, pass, dueAt } = world();
  for (let at = 0; at < LIMITS.expensiveCallsAtOnce; at++) await answer(`${at}`, ask(`${at}`));
  const delayed = ask("late");
  await nextTask();
  expect(started).toHaveLength(LIMITS.expensiveCallsAtOnce);
  expect(dueAt()).toBe(1_000_000 + 1000 / LIMITS.expensiveCallsPerSecond);
  pass(1000 / LIMITS.expensiveCallsPerSecond);
  await nextTask();
  expect(started.at(-1)).toBe("late");
  const waiting = Array.from({ length: LIMITS.expensiveCallsWaiting }, (_, at) => ask(`waits ${at}`));
  await expect(ask("too much")).rejects.toMatchObject({ code: 429, details: { retryAfterMs: expect.any(Number) } });
  expect(waiting).toHaveLength(LIMITS.expensiveCallsWaiting);
  await answer("late", delayed);
});

test("a call whose caller disconnects in the queue does not start, and does not block others", async () => {
  const { started, ask, answer } = world();
  const gone = new AbortController();
  const a = ask("a");
  const b = ask("b", SEARCH, CALLER, gone.signal);
  void ask("c");
  gone.abort();
  await expect(b).rejects.toMatchObject({ code: 503 });
  await answer("a", a);
  await nextTask();
  expect(started).toEqual(["a", "c"]);
});

test("a call whose caller disconnects while it waits for its share releases its place", async () => {
  const { started, ask, answer, busy } = world();
  const gone = new AbortController();
  const a = ask("a");
  const b = ask("b", SEARCH, CALLER, gone.signal);
  void ask("c");
  busy(true);
  await answer("a", a);
  gone.abort();
  await expect(b).rejects.toMatchObject({ code: 503 });
  busy(false);
  await nextTask();
  expect(started).toEqual(["a", "c"]);
});

test("a call that fails leaves its lane", async () => {
  const { lanes, started, ask } = world();
  await expect(lanes.run(SEARCH, CALLER, NEVER, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  void ask("next");
  await nextTask();
  expect(started).toEqual(["next"]);
});
