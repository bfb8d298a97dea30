// A program of its own, so that its memory is nobody else's: gives one message to each of many processes, of which few are open
// at a time, and prints how much memory and how many files it had after the first quarter, at the end, and once all sleep.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NodeProcesses } from "../../src/hosts/node/processes.ts";
import { memoryLog } from "./memory-ports.ts";
import { ScriptedKernel } from "./scripted-kernel.ts";
import { ScriptedModels } from "./scripted-models.ts";

const COUNT = 200;
const folder = mkdtempSync(join(tmpdir(), "gsv-crowd-"));
const kernel = new ScriptedKernel();
const complain = (line: string) => console.error(line);
const processes = new NodeProcesses({
  folder: join(folder, "processes"),
  models: new ScriptedModels(),
  uuid: () => crypto.randomUUID(),
  log: memoryLog(complain),
  fatal: (error) => complain(String(error)),
  openMax: 20,
  idleMs: 200,
});
processes.start(kernel);

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
};
const look = () => {
  globalThis.gc?.();
  return { open: processes.size, bytes: process.memoryUsage().rss, files: readdirSync("/proc/self/fd").length };
};
const seen = [];
for (let uid = 1; uid <= COUNT; uid++) {
  const pid = `init:${uid}`;
  await processes.call(pid, "send", { said: { role: "user", text: "hello" }, reason: "proc.send" });
  await until(() => kernel.ends(pid).length === 1);
  kernel.told.delete(pid);
  if (uid === COUNT / 4 || uid === COUNT) seen.push(look());
}
await until(() => processes.size === 0);
seen.push(look());
await processes.close();
rmSync(folder, { recursive: true, force: true });
console.log(JSON.stringify(seen));
