// A program that runs in its own process, so that the memory it measures is its own. It sends one message to each of many
// processes, few of which are open at a time, and prints its memory and open files after the first quarter, at the end, and once
// all are closed.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Journal } from "../../src/hosts/node/journal/journal.ts";
import { NodeProcesses } from "../../src/hosts/node/processes.ts";
import { NodeSandboxes } from "../../src/hosts/node/sandboxes.ts";
import { memoryLog } from "./memory-ports.ts";
import { ScriptedKernel } from "./scripted-kernel.ts";
import { ScriptedModels } from "./scripted-models.ts";

const COUNT = 200;
const folder = mkdtempSync(join(tmpdir(), "gsv-crowd-"));
const kernel = new ScriptedKernel();
const printError = (line: string) => console.error(line);
const journal = new Journal(folder, (error) => printError(String(error)));
const processes = new NodeProcesses({
  root: folder,
  journal,
  models: new ScriptedModels(),
  sandboxes: new NodeSandboxes(),
  uuid: () => crypto.randomUUID(),
  log: memoryLog(printError),
  onFatalError: (error) => printError(String(error)),
  openMax: 20,
  idleMs: 200,
});
processes.start(kernel);

const pollUntil = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
};
const sample = () => {
  globalThis.gc?.();
  return { open: processes.size, bytes: process.memoryUsage().rss, files: readdirSync("/proc/self/fd").length };
};
const samples = [];
for (let uid = 1; uid <= COUNT; uid++) {
  const pid = `init:${uid}`;
  await processes.call(pid, "send", { message: { role: "user", text: "hello" }, reason: "proc.send" });
  await pollUntil(() => kernel.ends(pid).length === 1);
  kernel.told.delete(pid);
  if (uid === COUNT / 4 || uid === COUNT) samples.push(sample());
}
await pollUntil(() => processes.size === 0);
samples.push(sample());
await processes.close();
await journal.close();
rmSync(folder, { recursive: true, force: true });
console.log(JSON.stringify(samples));
