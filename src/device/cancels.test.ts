import { beforeEach, expect, it } from "vitest";
import { CancellableCalls } from "./cancels.ts";

let ended: string[];
let cancels: CancellableCalls;
beforeEach(() => {
  ended = [];
  cancels = new CancellableCalls((sessionId) => ended.push(sessionId));
});

const untilCancelled = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("cancelled"), { once: true }));

it("cancels a call by its id or its key, and every call sent with that key", async () => {
  const plain = cancels.run({ id: "1", args: {} }, untilCancelled);
  const first = cancels.run({ id: "2", key: "k", args: {} }, untilCancelled);
  const again = cancels.run({ id: "3", key: "k", args: {} }, untilCancelled);
  cancels.cancel({ id: "1" });
  expect(await plain).toBe("cancelled");
  cancels.cancel({ id: "2", key: "k" });
  expect(await Promise.all([first, again])).toEqual(["cancelled", "cancelled"]);
});

it("ends a command that outlived its call, for as long as it runs", async () => {
  const running = async () => ({ status: "running", sessionId: "s" });
  await cancels.run({ id: "1", key: "k", args: {} }, running);
  cancels.cancel({ key: "k" });
  expect(ended).toEqual(["s"]);
  cancels.removeCallOfSession("s");
  cancels.cancel({ key: "k" });
  expect(ended).toEqual(["s"]);
});

it("does not end a command that the cancelled call only polled", async () => {
  await cancels.run({ id: "1", key: "k", args: { sessionId: "s", input: "" } }, async () => ({ status: "running", sessionId: "s" }));
  cancels.cancel({ key: "k" });
  expect(ended).toEqual([]);
});

it("ignores unknown ids and keys", () => {
  for (const payload of [{}, { id: "1" }, { key: "k" }]) cancels.cancel(payload);
  expect(ended).toEqual([]);
});
