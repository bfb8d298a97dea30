// Runs a snippet with the machine's own bash and with a gateway's shell.exec, to compare the results.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Client } from "../../src/client/client.ts";
import { deferred } from "../../src/lib/deferred.ts";
import type { Snippet } from "./corpus.ts";

export type Ran = { stdout: string; stderr: string; exitCode: number };

const CONCURRENCY = 4;
const FOLDERS_PER_COMMAND = 50;

export const hasBash = spawnSync("bash", ["--version"]).status === 0;

/** Tools that some machines with bash do not have. */
const EXTRA = ["jq", "bc", "column", "strings", "tar", "gzip", "awk", "diff", "cmp"];
const missingTools = EXTRA.filter((tool) => spawnSync("bash", ["-c", `command -v ${tool}`]).status !== 0);

/** Whether the machine has the tools that the snippet calls. */
export function canRun({ script }: Snippet): boolean {
  return !missingTools.some((tool) => new RegExp(`\\b${tool}\\b`).test(script));
}

/** The results of the machine's bash. */
export function byMachine(all: readonly Snippet[]): Promise<Ran>[] {
  const scratch = mkdtempSync(join(tmpdir(), "gsv-bash-"));
  const runs = runEach(all, async ({ script, files }, at) => {
    const folder = join(scratch, String(at));
    mkdirSync(folder);
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    writeFileSync(`${folder}.sh`, script);
    return runBash(`${folder}.sh`, folder);
  });
  void Promise.allSettled(runs).then(() => rmSync(scratch, { recursive: true, force: true }));
  return runs;
}

/** Creates a folder on the gateway for each snippet to run in. */
export async function makeFolders(all: readonly Snippet[], client: Client): Promise<void> {
  // In batches, because on a busy machine one command for all would time out.
  for (let at = 0; at < all.length; at += FOLDERS_PER_COMMAND) {
    const names = [...all.keys()].slice(at, at + FOLDERS_PER_COMMAND);
    let creation = await client.call("shell.exec", { input: `mkdir -p snippets && cd snippets && mkdir ${names.join(" ")}` });
    while (creation.status === "running") creation = await client.call("shell.exec", { sessionId: creation.sessionId, input: "" });
  }
}

/** The results of the gateway's shell. */
export function byGateway(all: readonly Snippet[], client: Client): Promise<Ran>[] {
  return runEach(all, async ({ script, files }, at) => {
    const cwd = `snippets/${at}`;
    for (const [path, content] of Object.entries(files)) await client.call("fs.write", { path: `${cwd}/${path}`, content });
    let run = await client.call("shell.exec", { input: script, cwd, streams: true });
    let [stdout, stderr] = [run.stdout ?? "", run.stderr ?? ""];
    while (run.status === "running") {
      const input = run.wantsInput === true ? "\u0003" : "";
      run = await client.call("shell.exec", { sessionId: run.sessionId, input, streams: true });
      stdout += run.stdout ?? "";
      stderr += run.stderr ?? "";
    }
    return { stdout, stderr, exitCode: run.exitCode ?? -1 };
  });
}

function runBash(script: string, cwd: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["--noprofile", "--norc", script], {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: { HOME: cwd, LC_ALL: "C.UTF-8", PATH: "/usr/local/bin:/usr/bin:/bin" },
      timeout: 60_000,
    });
    const text = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    child.stdout.on("data", (chunk: Buffer) => text.stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => text.stderr.push(chunk));
    child.on("error", reject);
    child.on("close", (code) =>
      resolve({
        stdout: Buffer.concat(text.stdout).toString("utf8"),
        stderr: Buffer.concat(text.stderr).toString("utf8"),
        exitCode: code ?? -1,
      }),
    );
  });
}

/** Runs a few at a time, in order. */
function runEach<T, R>(items: readonly T[], work: (item: T, at: number) => Promise<R>): Promise<R>[] {
  const deferreds = items.map(() => deferred<Promise<R>>());
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) {
      const result = work(items[at]!, at);
      deferreds[at]!.resolve(result);
      // The promise of this item reports the failure; the others continue.
      await result.catch(() => {});
    }
  };
  for (let at = 0; at < CONCURRENCY; at++) void worker();
  return deferreds.map(({ promise }) => promise.then((result) => result));
}
