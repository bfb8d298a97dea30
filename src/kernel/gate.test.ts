// Calls that only processes may make are refused for people.

import { expect, test } from "vitest";
import type { Caller } from "../protocol/caller.ts";
import { fakeStore } from "../../test/support/fake-store.ts";
import type { Judge } from "./agents/judge.ts";
import { Gate, type Targets } from "./gate.ts";
import type { Lanes } from "./fairness/lanes.ts";

const TOOLS = { tools: [], devices: [] };
const gate = new Gate(
  fakeStore({}),
  { requireAllowed: async (_, caller) => caller } as Pick<Judge, "requireAllowed"> as Judge,
  {} as Lanes,
);
gate.setTargets({ services: { ai: { listTools: () => TOOLS } } } as unknown as Targets);

const process = { uid: 0, gid: 0, gids: [0], username: "root", home: "/root", cwd: "/root", workspaceId: null };
const ROOT: Caller = {
  origin: "user",
  uid: 0,
  gids: [0],
  username: "root",
  capabilities: ["*"],
  connectionId: "c",
  address: "",
  credential: { kind: "password" },
  process,
  identity: { role: "user", process, capabilities: ["*"] },
};

test("a call for processes is refused for people, including root, before its arguments are decoded", async () => {
  const pass = (caller: Caller) =>
    gate.runRequest(caller, { type: "req", id: "1", call: "ai.tools", args: 5 as never }, () => new AbortController().signal);
  expect(() => pass(ROOT)).toThrow(expect.objectContaining({ code: 403, message: "Permission denied: ai.tools" }) as Error);
  const agent = { pid: "p", profile: "task", runId: null, conversationId: null, callId: null, toolName: null };
  expect(() => pass({ ...ROOT, agent })).toThrow(expect.objectContaining({ code: 400 }) as Error);
  const good = gate.runRequest(
    { ...ROOT, agent },
    { type: "req", id: "1", call: "ai.tools", args: {} },
    () => new AbortController().signal,
  );
  expect(await good).toMatchObject({ data: TOOLS, after: [] });
});
