// Calls of which a user has few at once: who begins when, and who is refused.

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
    take: (_uid: number, work: () => void) => (busy === null ? work() : void busy.push(work)),
    charge: () => {},
  } as unknown as Shares;
  const lanes = new Lanes(store, shares);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (name: string, kind: Parameters<Lanes["run"]>[0] = SEARCH, caller = CALLER, signal = NEVER) =>
    lanes.run(kind, caller, signal, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return { data: name, after: [] };
    });
  /** Answers it, and does what is to be done then. */
  const answer = async (name: string, asked: ReturnType<typeof ask>) => {
    ends.get(name)!();
    for (const action of (await asked).after) action();
    await Promise.resolve();
  };
  return {
    lanes,
    begun,
    ask,
    answer,
    dueAt: () => dueAt,
    pass: (ms: number) => lanes.woke((now += ms)),
    full,
    read: (connectionId: string) => {
      full.delete(connectionId);
      lanes.socketDrained(connectionId);
    },
    /** While the user has used much: what may begin waits for their turn. */
    busy: (isBusy: boolean) => {
      const late = busy ?? [];
      busy = isBusy ? [] : null;
      for (const work of late) work();
    },
  };
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 0));

test("as many at once as the call says; the next begins when one has been answered", async () => {
  const { begun, ask, answer } = world();
  const [a] = [ask("a", READ), ask("b", READ), ask("c", READ)];
  await soon();
  expect(begun).toEqual(["a", "b"]);
  await answer("a", a);
  await soon();
  expect(begun).toEqual(["a", "b", "c"]);
});

test("users and kinds of calls do not wait for each other", async () => {
  const { begun, ask } = world();
  void ask("mine");
  void ask("mine, later");
  void ask("other call", READ);
  void ask("other user", SEARCH, { ...CALLER, uid: 1001 });
  await soon();
  expect(begun).toEqual(["mine", "other call", "other user"]);
});

test("a connection that does not read what it was sent is sent no more before it has, and others of its user go on", async () => {
  const { begun, ask, answer, full, read } = world();
  const a = ask("a");
  void ask("b");
  full.add("c1");
  await answer("a", a);
  await soon();
  expect(begun).toEqual(["a"]);
  const c = ask("c", SEARCH, { ...CALLER, connectionId: "c2" });
  await soon();
  expect(begun).toEqual(["a", "c"]);
  await answer("c", c);
  read("c1");
  await soon();
  expect(begun).toEqual(["a", "c", "b"]);
});

test("a connection that closes holds up nobody who waits behind it", async () => {
  const { lanes, begun, ask, answer, full } = world();
  const a = ask("a");
  void ask("b");
  full.add("c1");
  await answer("a", a);
  full.delete("c1");
  lanes.socketClosed("c1");
  await soon();
  expect(begun).toEqual(["a", "b"]);
});

test("expensive calls begin so many at once, then so many in a second, and beyond what can be waited for they are refused", async () => {
  const { begun, ask, answer, pass, dueAt } = world();
  for (let at = 0; at < LIMITS.expensiveCallsAtOnce; at++) await answer(`${at}`, ask(`${at}`));
  const late = ask("late");
  await soon();
  expect(begun).toHaveLength(LIMITS.expensiveCallsAtOnce);
  expect(dueAt()).toBe(1_000_000 + 1000 / LIMITS.expensiveCallsPerSecond);
  pass(1000 / LIMITS.expensiveCallsPerSecond);
  await soon();
  expect(begun.at(-1)).toBe("late");
  const waiting = Array.from({ length: LIMITS.expensiveCallsWaiting }, (_, at) => ask(`waits ${at}`));
  await expect(ask("too much")).rejects.toMatchObject({ code: 429, details: { retryAfterMs: expect.any(Number) } });
  expect(waiting).toHaveLength(LIMITS.expensiveCallsWaiting);
  await answer("late", late);
});

test("who goes away while they wait does not begin, and holds nobody up", async () => {
  const { begun, ask, answer } = world();
  const gone = new AbortController();
  const a = ask("a");
  const b = ask("b", SEARCH, CALLER, gone.signal);
  void ask("c");
  gone.abort();
  await expect(b).rejects.toMatchObject({ code: 503 });
  await answer("a", a);
  await soon();
  expect(begun).toEqual(["a", "c"]);
});

test("who goes away while their turn is awaited gives their place back", async () => {
  const { begun, ask, answer, busy } = world();
  const gone = new AbortController();
  const a = ask("a");
  const b = ask("b", SEARCH, CALLER, gone.signal);
  void ask("c");
  busy(true);
  await answer("a", a);
  gone.abort();
  await expect(b).rejects.toMatchObject({ code: 503 });
  busy(false);
  await soon();
  expect(begun).toEqual(["a", "c"]);
});

test("a call that fails leaves its lane", async () => {
  const { lanes, begun, ask } = world();
  await expect(lanes.run(SEARCH, CALLER, NEVER, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  void ask("next");
  await soon();
  expect(begun).toEqual(["next"]);
});
