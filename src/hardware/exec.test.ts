// What becomes of the arguments of shell.exec before a target's shell sees them.

import { expect, it } from "vitest";
import type { Look } from "../ports/shells.ts";
import { execCommand, type GivenExecArgs } from "./exec.ts";
import type { Machine } from "./filesystem.ts";
import type { ShellStart } from "./shell.ts";

/** How a command was started and how it was looked at, by a shell that waits 5 s, and 20 s for those who ask for it. */
async function asked(args: Partial<GivenExecArgs>): Promise<{ start?: ShellStart; look?: Look }> {
  const seen: { start?: ShellStart; look?: Look } = {};
  const shell = {
    waitMs: 5_000,
    waitMsMax: 20_000,
    start: async (start: ShellStart) => {
      seen.start = start;
      return "sh_1";
    },
    wait: async (_: string, look: Look) => {
      seen.look = look;
      return { stdout: "", stderr: "", truncated: false, exit: null, wantsInput: false };
    },
  };
  const machine = { shell, files: {}, signal: new AbortController().signal } as unknown as Machine;
  expect(await execCommand(machine, { input: "true", ...args })).toMatchObject({ status: "running", sessionId: "sh_1" });
  return seen;
}

it("waits as long as it is asked to, in either word, and never longer than the target allows", async () => {
  const waits = async (args: Partial<GivenExecArgs>) => (await asked(args)).look?.ms;
  expect(await waits({})).toBe(5_000);
  expect(await waits({ wait: 0 })).toBe(0);
  expect(await waits({ wait: 100_000 })).toBe(20_000);
  expect(await waits({ yieldMs: 1 })).toBe(250);
  expect(await waits({ yieldMs: -1 })).toBe(250);
  expect(await waits({ yieldMs: 7_000 })).toBe(7_000);
  expect(await waits({ yieldMs: 100_000 })).toBe(20_000);
  expect(await waits({ yieldMs: 7_000, wait: 1 })).toBe(1);
});

it("starts in the background without a look, and looks at what runs all the same", async () => {
  expect((await asked({ background: true })).look).toBeUndefined();
  expect((await asked({ background: false })).look).toBeDefined();
  expect((await asked({ background: true, until: "output" })).look).toMatchObject({ until: "output" });
  expect((await asked({ background: true, sessionId: "sh_1", input: "" })).look).toMatchObject({ until: "end" });
});

it("takes no time limit for none of the caller's", async () => {
  expect((await asked({ timeout: 0 })).start?.timeoutMs).toBeUndefined();
  expect((await asked({ timeout: 7 })).start?.timeoutMs).toBe(7);
});
