// Calls that only processes may make.

import { expect, test } from "vitest";
import type { Caller } from "../protocol/caller.ts";
import aiTools from "./calls/ai/tools.ts";
import { type Door, pass } from "./gate.ts";

const DOOR: Door = {
  table: new Map([[aiTools.name, aiTools]]),
  authorize: () => aiTools,
  run: () => ({ data: "ran", after: [] }),
};

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

test("a call for processes is refused to people, root too, before its arguments are looked at", () => {
  const ask = (caller: Caller) =>
    pass(DOOR, caller, { type: "req", id: "1", call: "ai.tools", args: 5 as never }, () => new AbortController().signal);
  expect(() => ask(ROOT)).toThrow(expect.objectContaining({ code: 403, message: "Permission denied: ai.tools" }) as Error);
  const agent = { pid: "p", profile: "task", runId: null, conversationId: null, callId: null, toolName: null };
  expect(() => ask({ ...ROOT, agent })).toThrow(expect.objectContaining({ code: 400 }) as Error);
  const good = pass(DOOR, { ...ROOT, agent }, { type: "req", id: "1", call: "ai.tools", args: {} }, () => new AbortController().signal);
  expect(good).toEqual({ data: "ran", after: [] });
});
