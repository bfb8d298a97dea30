import { expect, test } from "vitest";
import { sleep } from "../lib/sleep.ts";
import type { Exit, PollOptions } from "../ports/shells.ts";
import { makeInterruptExit } from "./exit.ts";
import { ENDED_PER_OWNER, Sessions, type Sink, type SpawnedCommand } from "./sessions.ts";

const ABOUT = { command: "x", cwd: "/", outputBytesMax: 1024 };
const LIMITS = { running: 2, ended: 2, keepMs: 1_000 };
const NOW = 1_700_000_000_000;
const NEVER = new AbortController().signal;

/** A command controlled by the test. */
function command(more: Partial<SpawnedCommand> = {}) {
  let sink: Sink = undefined as never;
  let finish: (exit: Exit) => void = () => {};
  const done = new Promise<Exit>((resolve) => (finish = resolve));
  const spawn = (given: Sink): SpawnedCommand => {
    sink = given;
    return { done, write() {}, end: finish, ...more };
  };
  return {
    spawn,
    print: (text: string) => sink.onOutput("stdout", text),
    want: () => sink.onInputWanted(),
    finish: (exit: Exit) => finish(exit),
  };
}

function sessions(limits = LIMITS) {
  let lastId = 0;
  const all = new Sessions({ newId: () => String(++lastId), now: () => NOW, sleep }, limits);
  return Object.assign(all, {
    poll: (id: string, look: Partial<PollOptions> = {}) => all.wait(1, id, { ms: 30_000, until: "end", ...look }, NEVER),
  });
}

test("of ended commands that are never polled, the last few of each owner are kept", async () => {
  let lastId = 0;
  let now = 0;
  const all = new Sessions({ newId: () => String(lastId++), now: () => now++, sleep: async () => {} });
  const start = (owner: number) =>
    all.start(owner, ABOUT, ({ onOutput }) => {
      onOutput("stdout", "x");
      return { done: Promise.resolve({ exitCode: 0 }), write() {}, end() {} };
    });
  const poll = (owner: number, id: string) => all.wait(owner, id, { ms: 0, until: "end" }, NEVER);
  const other = start(1);
  const ids: string[] = [];
  for (let at = 0; at < ENDED_PER_OWNER + 10; at++) {
    ids.push(start(2));
    await Promise.resolve();
  }
  start(2);
  const found = await Promise.all(ids.map((id) => poll(2, id)));
  expect(found.map((state) => state?.stdout ?? null)).toEqual([
    ...Array.from({ length: 10 }, () => null),
    ...Array.from({ length: ENDED_PER_OWNER }, () => "x"),
  ]);
  expect(await poll(1, other)).toMatchObject({ stdout: "x", exit: { exitCode: 0 } });
});

test("a poll until output returns with the first output; one until the end does not", async () => {
  const all = sessions();
  const { spawn, print, finish } = command();
  const id = all.start(1, ABOUT, spawn);
  const first = all.poll(id, { until: "output" });
  print("a");
  print("b");
  expect(await first).toEqual({ stdout: "ab", stderr: "", truncated: false, exit: null, wantsInput: false });
  const rest = all.poll(id);
  print("c");
  finish({ exitCode: 3 });
  expect(await rest).toMatchObject({ stdout: "c", exit: { exitCode: 3 } });
  expect(await all.poll(id)).toBeNull();
});

test("a lost answer is sent again, including the last one", async () => {
  const all = sessions();
  const { spawn, print, finish } = command();
  const id = all.start(1, ABOUT, spawn);
  print("a");
  expect(await all.poll(id, { until: "output", after: 0 })).toMatchObject({ stdout: "a", part: 1 });
  print("b");
  expect(await all.poll(id, { until: "output", after: 0 })).toMatchObject({ stdout: "ab", part: 2 });
  print("c");
  expect(await all.poll(id, { until: "output", after: 2 })).toMatchObject({ stdout: "c", part: 3 });
  print("d");
  finish({ exitCode: 0 });
  expect(await all.poll(id, { after: 3 })).toMatchObject({ stdout: "d", part: 4, exit: { exitCode: 0 } });
  expect(await all.poll(id, { after: 3 })).toMatchObject({ stdout: "d", part: 5, exit: { exitCode: 0 } });
  expect(await all.poll(id, { after: 5 })).toBeNull();
  expect(await all.poll(id)).toBeNull();
  expect(all.list(1)).toEqual([]);
});

test("the refusal of a command too many names the running sessions, and the list describes them", async () => {
  const all = sessions();
  const long = "y".repeat(300);
  const first = command({ pid: 7 });
  all.start(1, ABOUT, first.spawn);
  all.start(1, { ...ABOUT, command: long, tty: true }, command().spawn);
  all.start(2, ABOUT, command().spawn);
  expect(() => all.start(1, ABOUT, command().spawn)).toThrow(/at most 2 at once.*: sh_1, sh_2$/);
  expect(all.list(1)).toMatchObject([
    { sessionId: "sh_1", command: "x", cwd: "/", state: "running", pid: 7 },
    { sessionId: "sh_2", command: long.slice(0, 200), state: "running", tty: true },
  ]);
  first.finish({ exitCode: 4 });
  await expect.poll(() => all.list(1)[0]).toMatchObject({ sessionId: "sh_1", state: "ended", exitCode: 4 });
  await all.poll("sh_1");
  expect(all.list(1)).toHaveLength(1);
});

test("callers that wait for room are woken in order, one for each command that ends", async () => {
  const all = sessions();
  const running = [command(), command()];
  expect(await all.waitForRoom(1)).toBe(true);
  for (const one of running) all.start(1, ABOUT, one.spawn);
  const order: string[] = [];
  const first = all.waitForRoom(1).then(() => order.push("first"));
  const second = all.waitForRoom(1).then(() => order.push("second"));
  running[0]!.finish({ exitCode: 0 });
  await first;
  expect(order).toEqual(["first"]);
  running[1]!.finish({ exitCode: 0 });
  await second;
  expect(await all.waitForRoom(1)).toBe(true);
});

test("signals, sizes and Ctrl-C reach the commands that support them", async () => {
  const all = sessions({ ...LIMITS, running: 8 });
  const received: unknown[] = [];
  const write = (text: string) => void received.push(text);
  const plain = all.start(1, ABOUT, command({ write }).spawn);
  const terminal = all.start(
    1,
    { ...ABOUT, tty: true },
    command({ write, signal: write, resize: (size) => void received.push(size) }).spawn,
  );
  const send = (id: string, sent: Parameters<Sessions["send"]>[2]) => all.send(1, id, sent, 30_000);
  expect(await send(terminal, { text: "\u0003" })).toBe("sent");
  expect(await send(terminal, { signal: "USR1" })).toBe("sent");
  expect(await send(terminal, { resize: { cols: 3, rows: 2 } })).toBe("sent");
  expect(received).toEqual(["\u0003", "USR1", { cols: 3, rows: 2 }]);
  expect(await send(plain, { resize: { cols: 3, rows: 2 } })).toBe("unable");
  expect(await send(plain, { signal: "USR1" })).toBe("unable");
  expect(await send("sh_nothing", { text: "" })).toBe("missing");
  expect(await all.send(2, plain, { text: "stolen" }, 0)).toBe("missing");
  expect(await send(plain, { signal: "TERM" })).toBe("sent");
  expect(await all.poll(plain, { after: 0 })).toMatchObject({ exit: { exitCode: 143, error: "Command was ended by SIGTERM" } });
  expect(await send(plain, { text: "late" })).toBe("missing");
  const other = all.start(1, ABOUT, command().spawn);
  await send(other, { text: "\u0003" });
  await expect.poll(() => send(other, { text: "x" })).toBe("ended");
  expect(await all.poll(other)).toMatchObject({ exit: makeInterruptExit("Interrupted") });
});

test("a command is paused only for a caller that follows its output", async () => {
  const all = sessions();
  const received: string[] = [];
  const { spawn, print } = command({ pause: () => void received.push("pause"), resume: () => void received.push("resume") });
  const id = all.start(1, ABOUT, spawn);
  print("x".repeat(1000));
  expect(received).toEqual([]);
  await all.poll(id, { until: "output" });
  print("x".repeat(1000));
  print("x".repeat(10));
  expect(received).toEqual(["pause"]);
  expect(await all.poll(id, { until: "output" })).toMatchObject({ stdout: "x".repeat(1010) });
  expect(received).toEqual(["pause", "resume"]);
});
