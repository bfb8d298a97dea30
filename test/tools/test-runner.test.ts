// Parts of `npm test` that no other test covers: how steps share the machine, and that no process outlives a run.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { endLeftovers } from "../../tools/testing/leftovers.ts";
import { runAll } from "../../tools/testing/schedule.ts";

test("steps run in parallel up to the capacity, and a large one runs alone", async () => {
  let load = 0;
  const seen: number[] = [];
  const task = (size: number) => ({
    load: size,
    async run() {
      seen.push((load += size));
      await new Promise((resolve) => setImmediate(resolve));
      load -= size;
    },
  });
  await runAll([task(1), task(1), task(5), task(0.5), task(0.5)], 2);
  // Two at once at first; the others overtake the large one, which then runs alone.
  expect(seen.slice(0, 2)).toEqual([1, 2]);
  expect(seen.slice(0, -1).every((sum) => sum <= 2)).toBe(true);
  expect(seen).toHaveLength(5);
  expect(seen.at(-1)).toBe(5);
});

test.runIf(existsSync("/proc/self/environ"))("kills and names processes that still refer to the folder of a run", async () => {
  const scratch = mkdtempSync(join(tmpdir(), "gsv-leftovers-"));
  const child = spawn(process.execPath, ["-e", "console.log(1); setInterval(() => {}, 1000)"], {
    env: { SCRATCH: scratch },
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  await once(child.stdout, "data");
  const ended = once(child, "exit");
  expect(endLeftovers(scratch)).toEqual([expect.stringContaining("setInterval")]);
  expect(await ended).toEqual([null, "SIGKILL"]);
  expect(endLeftovers(scratch)).toEqual([]);
  rmSync(scratch, { recursive: true });
});
