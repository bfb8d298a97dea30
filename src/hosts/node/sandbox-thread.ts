// The other side of sandboxes.ts: a thread that runs one script at a time. The next engine is made while nothing runs.

import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import type { ScriptAnswer, ScriptStart } from "../../ports/sandbox.ts";
import { runScript } from "../../sandbox/engine.ts";
import { Instance } from "../../sandbox/instance.ts";
import type { FromSandbox, SandboxData, ToSandbox } from "./sandbox-messages.ts";

const port = parentPort!;
const { wasm, limits } = workerData as SandboxData;
/** Below the kernel's priority, as commands are (shell-thread.ts). */
const NICENESS = 5;
if (process.platform === "linux") setPriority(NICENESS);

const post = (message: FromSandbox, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
const waiting = new Map<number, (answer: ScriptAnswer) => void>();
let stopping = new AbortController();
let next = Instance.create(wasm, limits);

port.on("message", (message: ToSandbox) => {
  switch (message.type) {
    case "run":
      return void run(message.start);
    case "answer":
      waiting.get(message.number)?.(message.answer);
      waiting.delete(message.number);
      return;
    case "stop":
      return stopping.abort();
  }
});

async function run(start: ScriptStart): Promise<void> {
  stopping = new AbortController();
  const takeInstance = () => next;
  const link = (call: Extract<FromSandbox, { type: "call" }>["call"]) =>
    new Promise<ScriptAnswer>((resolve) => {
      waiting.set(call.number, resolve);
      post({ type: "call", call });
    });
  const end = await runScript({ wasm, takeInstance, limits }, start, link, stopping.signal);
  waiting.clear();
  post({ type: "end", end }, end.kind === "suspended" ? [end.snapshot.buffer as ArrayBuffer] : []);
  if (start.kind === "source") next = Instance.create(wasm, limits);
}
