// Runs bombs in the engine of the Cloudflare host, in a thread that sandbox.ts can end. No clock limits it here: only its steps do.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { runScript } from "../../../src/sandbox/engine.ts";
import { Instance } from "../../../src/sandbox/instance.ts";
import { ENGINE_LIMITS } from "../../../src/sandbox/limits.ts";
import { meterWasm } from "../../../tools/meter-wasm.ts";
import type { Bomb } from "./bombs.ts";
import { spiedInstance } from "./spied-instance.ts";

/** `sliceMs`: the processor time of the longest slice. */
export type Metered = { name: string; end: string; sliceMs: number };

const { bombs, wallMs } = workerData as { bombs: readonly Bomb[]; wallMs: number };
const wasm = await WebAssembly.compile(
  new Uint8Array(meterWasm(readFileSync(fileURLToPath(new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm")))))),
);
const limits = { ...ENGINE_LIMITS, cpuMs: Infinity, wallMs };

for (const bomb of bombs) parentPort!.postMessage(await measure(bomb), []);

async function measure({ name, code }: Bomb): Promise<Metered> {
  let longest = 0;
  const measured = <T>(run: () => T): T => {
    const before = process.threadCpuUsage();
    try {
      return run();
    } finally {
      const { user, system } = process.threadCpuUsage(before);
      longest = Math.max(longest, (user + system) / 1000);
    }
  };
  const takeInstance = async () => {
    const instance = await Instance.create(wasm, limits);
    return spiedInstance(instance, {
      start: (...args) => measured(() => instance.start(...args)),
      answer: (...args) => measured(() => instance.answer(...args)),
    });
  };
  const start = { kind: "source", code, globals: { argv: [], args: null } } as const;
  const answer = async () => ({ kind: "value", json: "1" }) as const;
  const end = await runScript({ wasm, takeInstance, limits }, start, answer, new AbortController().signal);
  return { name, end: end.kind === "failed" ? end.error.slice(0, 200) : end.kind, sliceMs: longest };
}
