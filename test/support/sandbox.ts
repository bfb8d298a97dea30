// Sandboxes for tests of processes: the real engine in the thread of the test, and one that runs nothing.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Sandbox } from "../../src/ports/sandbox.ts";
import { makeFailedEnd, runScript } from "../../src/sandbox/engine.ts";
import { engineName } from "../../src/sandbox/engine-name.ts";
import { Instance } from "../../src/sandbox/instance.ts";

const ENGINE = new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm"));
let compiled: Promise<WebAssembly.Module> | undefined;

export function compileEngine(): Promise<WebAssembly.Module> {
  compiled ??= WebAssembly.compile(readFileSync(fileURLToPath(ENGINE)));
  return compiled;
}

export const ENGINE_SANDBOX: Sandbox = {
  engine: engineName(false),
  run: async (start, link, signal) => {
    const wasm = await compileEngine();
    return runScript({ wasm, takeInstance: () => Instance.create(wasm) }, start, link, signal);
  },
};

export const NO_SANDBOX: Sandbox = { engine: "none", run: async () => makeFailedEnd("There are no scripts here") };
