// A snippet run twice: by the machine's own bash, and by a gateway's shell.exec. What comes back is what is compared.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Client } from "../../src/client/client.ts";
import { deferred } from "../../src/lib/deferred.ts";
import type { Snippet } from "./corpus.ts";

export type Ran = { stdout: string; stderr: string; exitCode: number };

const AT_ONCE = 4;
const FOLDERS_AT_ONCE = 50;

export const hasBash = spawnSync("bash", ["--version"]).status === 0;

/** Not on every machine that has bash. */
const EXTRA = ["jq", "bc", "column", "strings", "tar", "gzip", "awk", "diff", "cmp"];
const missing = EXTRA.filter((tool) => spawnSync("bash", ["-c", `command -v ${tool}`]).status !== 0);

/** Whether the machine has what the snippet calls. */
export function canRun({ script }: Snippet): boolean {
  return !missing.some((tool) => new RegExp(`\\b${tool}\\b`).test(script));
}

/** What the machine says. */
export function byMachine(all: readonly Snippet[]): Promise<Ran>[] {
  const scratch = mkdtempSync(join(tmpdir(), "gsv-bash-"));
  const runs = each(all, async ({ script, files }, at) => {
    const folder = join(scratch, String(at));
    mkdirSync(folder);
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    writeFileSync(`${folder}.sh`, script);
    return bash(`${folder}.sh`, folder);
  });
  void Promise.allSettled(runs).then(() => rmSync(scratch, { recursive: true, force: true }));
  return runs;
}

/** A folder for each, in which the gateway runs it. */
export async function makeFolders(all: readonly Snippet[], client: Client): Promise<void> {
  // Some at a time: on a busy machine all at once outlive the time a command may take.
  for (let at = 0; at < all.length; at += FOLDERS_AT_ONCE) {
    const names = [...all.keys()].slice(at, at + FOLDERS_AT_ONCE);
    let made = await client.call("shell.exec", { input: `mkdir -p snippets && cd snippets && mkdir ${names.join(" ")}` });
    while (made.status === "running") made = await client.call("shell.exec", { sessionId: made.sessionId, input: "" });
  }
}

/** What the gateway says. */
export function byGateway(all: readonly Snippet[], client: Client): Promise<Ran>[] {
  return each(all, async ({ script, files }, at) => {
    const cwd = `snippets/${at}`;
    for (const [path, content] of Object.entries(files)) await client.call("fs.write", { path: `${cwd}/${path}`, content });
    let ran = await client.call("shell.exec", { input: script, cwd, streams: true });
    let [stdout, stderr] = [ran.stdout ?? "", ran.stderr ?? ""];
    while (ran.status === "running") {
      const input = ran.wantsInput === true ? "\u0003" : "";
      ran = await client.call("shell.exec", { sessionId: ran.sessionId, input, streams: true });
      stdout += ran.stdout ?? "";
      stderr += ran.stderr ?? "";
    }
    return { stdout, stderr, exitCode: ran.exitCode ?? -1 };
  });
}

function bash(script: string, cwd: string): Promise<Ran> {
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

/** A few at a time, in order. */
function each<T, R>(items: readonly T[], work: (item: T, at: number) => Promise<R>): Promise<R>[] {
  const turns = items.map(() => deferred<Promise<R>>());
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) {
      const result = work(items[at]!, at);
      turns[at]!.resolve(result);
      // Whoever waits for this one is told of a failure; the others go on.
      await result.catch(() => {});
    }
  };
  for (let at = 0; at < AT_ONCE; at++) void worker();
  return turns.map(({ promise }) => promise.then((result) => result));
}
