import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { makeMachineVitals, parseVmStat } from "./machine-vitals.ts";

test("a machine is measured, and readers at the same moment share one measurement", async () => {
  const read = makeMachineVitals(tmpdir());
  const [one, other] = [read(), read()];
  expect(one).toBe(other);
  const { system, cpuCount, cpuBusy, memory, disk, uptimeMs } = await one;
  expect(system).toMatch(/./);
  expect(cpuCount).toBeGreaterThan(0);
  if (cpuBusy !== null) expect([cpuBusy >= 0, cpuBusy <= 1]).toEqual([true, true]);
  for (const room of [memory, disk]) expect(room!.freeBytes).toBeLessThan(room!.totalBytes);
  expect(uptimeMs).toBeGreaterThan(0);
});

test("a folder that is gone leaves only the disk unknown", async () => {
  const vitals = await makeMachineVitals("/nowhere/at/all")();
  expect([vitals.disk, vitals.memory !== null]).toEqual([null, true]);
});

test("what macOS caches counts as free", () => {
  const text = [
    "Mach Virtual Memory Statistics: (page size of 16384 bytes)",
    "Pages free:                               10000.",
    "Pages active:                            400000.",
    "Pages inactive:                           20000.",
    "Pages speculative:                          500.",
    "Pages purgeable:                            300.",
  ].join("\n");
  expect(parseVmStat(text)).toBe(30_800 * 16_384);
  expect(parseVmStat("something else")).toBeNull();
});
