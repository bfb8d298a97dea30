// How the arguments of shell.exec are translated before a target's shell sees them.

import { expect, it } from "vitest";
import type { PollOptions } from "../ports/shells.ts";
import { execCommand, type GivenExecArgs } from "./exec.ts";
import type { Machine } from "./filesystem.ts";
import type { ShellStart } from "./shell.ts";

/** How a command was started and polled, by a shell that waits 5 s by default and 20 s at most. */
async function runWith(args: Partial<GivenExecArgs>): Promise<{ start?: ShellStart; look?: PollOptions }> {
  const observed: { start?: ShellStart; look?: PollOptions } = {};
  const shell = {
    waitMs: 5_000,
    waitMsMax: 20_000,
    start: async (start: ShellStart) => {
      observed.start = start;
      return "sh_1";
    },
    wait: async (_: string, look: PollOptions) => {
      observed.look = look;
      return { stdout: "", stderr: "", truncated: false, exit: null, wantsInput: false };
    },
  };
  const machine = { shell, files: {}, signal: new AbortController().signal } as unknown as Machine;
  expect(await execCommand(machine, { input: "true", ...args })).toMatchObject({ status: "running", sessionId: "sh_1" });
  return observed;
}

it("waits as long as wait or yieldMs says, and never longer than the target allows", async () => {
  const waitOf = async (args: Partial<GivenExecArgs>) => (await runWith(args)).look?.ms;
  expect(await waitOf({})).toBe(5_000);
  expect(await waitOf({ wait: 0 })).toBe(0);
  expect(await waitOf({ wait: 100_000 })).toBe(20_000);
  expect(await waitOf({ yieldMs: 1 })).toBe(250);
  expect(await waitOf({ yieldMs: -1 })).toBe(250);
  expect(await waitOf({ yieldMs: 7_000 })).toBe(7_000);
  expect(await waitOf({ yieldMs: 100_000 })).toBe(20_000);
  expect(await waitOf({ yieldMs: 7_000, wait: 1 })).toBe(1);
});

it("starts in the background without a poll, but still polls a running command", async () => {
  expect((await runWith({ background: true })).look).toBeUndefined();
  expect((await runWith({ background: false })).look).toBeDefined();
  expect((await runWith({ background: true, until: "output" })).look).toMatchObject({ until: "output" });
  expect((await runWith({ background: true, sessionId: "sh_1", input: "" })).look).toMatchObject({ until: "end" });
});

it("a timeout of 0 means no time limit", async () => {
  expect((await runWith({ timeout: 0 })).start?.timeoutMs).toBeUndefined();
  expect((await runWith({ timeout: 7 })).start?.timeoutMs).toBe(7);
});
