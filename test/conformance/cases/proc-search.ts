// Searching the history of a process.

import { expect } from "vitest";
import { refusal, verifies } from "../verifies.ts";

verifies("proc.history.search:own", async ({ alice, bob }) => {
  const client = await alice();
  const { pid } = await client.call("proc.spawn", { profile: "task", label: "a search" });
  for (const [conversationId, message] of [
    ["default", "Where is my Bicycle?"],
    ["fruit", "A bicycle made of plums"],
    ["default", "hello"],
  ] as const) {
    const { runId } = await client.call("proc.send", { pid, conversationId, message });
    await expect
      .poll(async () => (await client.call("proc.list", {})).processes.find((one) => one.pid === pid)?.state, { timeout: 60_000 })
      .toBe("idle");
    expect(runId).not.toBe("");
  }
  const users = async (args: { conversationId?: string; limit?: number }) => {
    const { matches, isWhole } = await client.call("proc.history.search", { pid, query: "BICYCLE", ...args });
    return { found: matches.filter(({ role }) => role === "user").map(({ conversationId, offset }) => [conversationId, offset]), isWhole };
  };
  expect((await users({})).found).toEqual([
    ["fruit", 0],
    ["default", 0],
  ]);
  expect((await users({ conversationId: "default" })).found).toEqual([["default", 0]]);
  expect((await users({ limit: 1 })).isWhole).toBe(false);
  const other = await bob();
  const foreign = await refusal(other.call("proc.history.search", { pid, query: "bicycle" }));
  const absent = await refusal(other.call("proc.history.search", { pid: "nobody", query: "bicycle" }));
  expect([foreign.code, foreign.message.replace(pid, "nobody")]).toEqual([absent.code, absent.message]);
});
