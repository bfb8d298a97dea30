import { expect, test } from "vitest";
import { ENDED_PER_OWNER, Sessions } from "./sessions.ts";

test("of commands that have ended and are never asked for, the last few of each owner are kept", async () => {
  let made = 0;
  let now = 0;
  const sessions = new Sessions({ newId: () => String(made++), now: () => now++, sleep: async () => {} });
  const start = (owner: number) =>
    sessions.start(owner, { command: "x", cwd: "/", outputBytesMax: 1024 }, ({ output }) => {
      output("stdout", "x");
      return { done: Promise.resolve({ exitCode: 0 }), write() {}, end() {} };
    });
  const waited = (owner: number, id: string) => sessions.wait(owner, id, { ms: 0, until: "end" }, new AbortController().signal);
  const other = start(1);
  const ids: string[] = [];
  for (let at = 0; at < ENDED_PER_OWNER + 10; at++) {
    ids.push(start(2));
    await Promise.resolve();
  }
  start(2);
  const found = await Promise.all(ids.map((id) => waited(2, id)));
  expect(found.map((state) => state?.stdout ?? null)).toEqual([
    ...Array.from({ length: 10 }, () => null),
    ...Array.from({ length: ENDED_PER_OWNER }, () => "x"),
  ]);
  expect(await waited(1, other)).toMatchObject({ stdout: "x", exit: { exitCode: 0 } });
});
