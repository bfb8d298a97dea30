// Floors without a network: one unit of work, repeated in its own process, done by the library or Node alone. The task is the
// first argument; the last line it prints is the measure.

import * as fs from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Bash } from "just-bash/browser";
import * as git from "isomorphic-git";
import { QuickJS } from "quickjs-wasi";
import { type Measure, percentile } from "./stats.ts";
import { textOf } from "./text.ts";

export type Task =
  /** just-bash with a file `f` in memory: one interpreter for all commands, or a new one for each. */
  | { work: "bash"; script: string; file: string; isKept: boolean; seconds: number }
  /** QuickJS in this thread: a new engine for each script. `calls` are the calls that it answers from memory. */
  | { work: "engine"; wasm: string; script: string; seconds: number }
  /** Reads every file below a folder whole and searches it, line by line where it matches. */
  | { work: "search"; folder: string; query: string; seconds: number }
  /** isomorphic-git: writes a file of a work tree, adds and commits it; nothing is synced. */
  | { work: "commit"; folder: string; files: number; fileBytes: number; commits: number }
  | { work: "log"; folder: string; limit: number; seconds: number }
  /** Reads one file at the newest commit. */
  | { work: "read"; folder: string; path: string; seconds: number }
  /** Lists the files that differ between the newest commit and its parent, and their text. */
  | { work: "diff"; folder: string; seconds: number };

const WARM_UP_MS = 500;
/** isomorphic-git's cache of packs and the index, kept between calls as a server would. */
const cache = {};
const AUTHOR = { name: "bench", email: "bench@gsv.local" };

if (import.meta.main) console.log(`\n${JSON.stringify(await carryOut(JSON.parse(process.argv[2]!) as Task))}`);

async function carryOut(task: Task): Promise<Measure> {
  switch (task.work) {
    case "bash": {
      const make = () => new Bash({ files: { "/f": task.file }, cwd: "/", defenseInDepth: false });
      const kept = make();
      return repeatFor(task.seconds, async () => {
        const { exitCode } = await (task.isKept ? kept : make()).exec(task.script);
        if (exitCode !== 0) throw new Error(`${task.script} ended with ${exitCode}`);
      });
    }
    case "engine": {
      const wasm = await WebAssembly.compile(await readFile(task.wasm));
      return repeatFor(task.seconds, () => runInEngine(wasm, task.script));
    }
    case "search":
      return repeatFor(task.seconds, () => search(task.folder, task.query));
    case "commit":
      return makeCommits(task);
    case "log":
      return repeatFor(task.seconds, () => git.log({ fs, cache, gitdir: task.folder, depth: task.limit }));
    case "read":
      return repeatFor(task.seconds, () =>
        atHead(task.folder, (oid) => git.readBlob({ fs, cache, gitdir: task.folder, oid, filepath: task.path })),
      );
    case "diff":
      return repeatFor(task.seconds, () => atHead(task.folder, (oid) => diff(task.folder, oid)));
  }
}

async function repeatFor(seconds: number, work: () => Promise<unknown>): Promise<Measure> {
  for (const until = performance.now() + WARM_UP_MS; performance.now() < until;) await work();
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const samples: number[] = [];
  for (const until = startedAt + seconds * 1000; performance.now() < until;) samples.push(await timeMs(work));
  return summarize(samples, performance.now() - startedAt, before);
}

async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function summarize(samples: number[], ms: number, before: NodeJS.CpuUsage): Measure {
  const { user, system } = process.cpuUsage(before);
  return {
    perSecond: (samples.length * 1000) / ms,
    p50Ms: percentile(samples, 0.5),
    p99Ms: percentile(samples, 0.99),
    cpuMsPerCall: (user + system) / 1000 / samples.length,
  };
}

/** The script is an async function's body; `read(path)` gives it the same text each time. */
async function runInEngine(wasm: WebAssembly.Module, script: string): Promise<void> {
  const vm = await QuickJS.create({ wasm });
  try {
    const text = vm.newString(textOf(0, 256));
    const read = vm.newFunction("read", () => {
      const answer = vm.newPromise();
      queueMicrotask(() => {
        answer.resolve(text);
        vm.executePendingJobs();
      });
      return answer.handle;
    });
    vm.setProp(vm.global, "read", read);
    const result = await vm.resolvePromise(vm.evalCode(`(async () => {${script}})()`, "script.js"));
    if ("error" in result) throw new Error("the script failed");
  } finally {
    vm.dispose();
  }
}

async function search(folder: string, query: string): Promise<{ path: string; line: number }[]> {
  const matches: { path: string; line: number }[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const text = await readFile(path, "utf8");
    if (text.includes(query))
      for (const [line, content] of text.split("\n").entries()) if (content.includes(query)) matches.push({ path, line });
  }
  return matches;
}

async function makeCommits({ folder, files, fileBytes, commits }: Extract<Task, { work: "commit" }>): Promise<Measure> {
  await git.init({ fs, dir: folder, defaultBranch: "main" });
  const put = async (number: number, text: string) => {
    await writeFile(join(folder, `f${number}.txt`), text);
    await git.add({ fs, cache, dir: folder, filepath: `f${number}.txt` });
  };
  for (let at = 0; at < files; at++) await put(at, textOf(at, fileBytes));
  await git.commit({ fs, cache, dir: folder, message: "first", author: AUTHOR });
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const samples: number[] = [];
  for (let at = 0; at < commits; at++) {
    samples.push(
      await timeMs(async () => {
        await put(at % files, textOf(at + 1000, fileBytes));
        await git.commit({ fs, cache, dir: folder, message: `change ${at}`, author: AUTHOR });
      }),
    );
  }
  return summarize(samples, performance.now() - startedAt, before);
}

/** As a server does it: resolves the branch for every request. */
async function atHead<T>(gitdir: string, work: (oid: string) => Promise<T>): Promise<T> {
  return work(await git.resolveRef({ fs, gitdir, ref: "HEAD" }));
}

async function diff(gitdir: string, oid: string): Promise<number> {
  const { commit } = await git.readCommit({ fs, cache, gitdir, oid });
  const found: unknown[] = await git.walk({
    fs,
    cache,
    gitdir,
    trees: [git.TREE({ ref: commit.parent[0]! }), git.TREE({ ref: oid })],
    map: async (_path, [before, after]) => {
      if ((await before?.oid()) === (await after?.oid())) return null;
      if ((await (before ?? after)?.type()) === "tree") return undefined;
      return [await before?.content(), await after?.content()];
    },
  });
  return found.length;
}
