// Commits and reads of history over a socket, one in flight, compared to isomorphic-git on disk in its own process, which syncs
// nothing, and to stock git, whose time is mostly the start of a process. History gets longer step by step.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Task } from "../alone.ts";
import type { Server } from "../children.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { type Measure, middle, percentile } from "../stats.ts";
import { textOf } from "../text.ts";

const FILES = 100;
const FILE_BYTES = 1024;
const COMMITS = 50;
const LENGTHS = [100, 1_000, 10_000];
const AT_ONCE_OPS = 100;

export async function repo(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const findings = await commits(stage, gateway);
  const name = `${stage.account.username}/history`;
  const connection = await stage.line(gateway);
  let committed = 0;
  for (const length of LENGTHS) {
    for (; committed < length; committed++) await connection.call("repo.apply", { repo: name, ...change(committed) });
    const folder = history(stage, length);
    await folder.ready;
    const paths = { log: "repo.log", read: "repo.read", diff: "repo.diff" } as const;
    const shown = length.toLocaleString("en");
    const readings: { bench: string; call: string; args: Record<string, unknown>; task: Task; git: string[] }[] = [
      ...[30, 100].map((limit) => ({
        bench: `${paths.log} ${limit} of ${shown} commits`,
        call: paths.log,
        args: { repo: name, limit },
        task: { work: "log" as const, folder: folder.path, limit, seconds: stage.options.seconds },
        git: ["log", `-${limit}`, "--first-parent", "main"],
      })),
      {
        bench: `${paths.read} a file, ${shown} commits`,
        call: paths.read,
        args: { repo: name, path: "f7.txt" },
        task: { work: "read", folder: folder.path, path: "f7.txt", seconds: stage.options.seconds },
        git: ["show", "main:f7.txt"],
      },
      {
        bench: `${paths.diff} one of ${shown} commits`,
        call: paths.diff,
        args: { repo: name, commit: "main" },
        task: { work: "diff", folder: folder.path, seconds: stage.options.seconds },
        git: ["show", "main"],
      },
    ];
    for (const { bench, call, args, task, git } of readings) {
      const [alone, stock]: [Measure[], number[]] = [[], []];
      const [mine] = await stage.compare(
        [gateway],
        (target) => ({ do: "pipeline", target, call, args: [args], inFlight: 1, seconds: stage.options.seconds }),
        async () => {
          alone.push(await stage.alone(task));
          stock.push((await stage.children.command(["git", "--git-dir", folder.path, ...git])).ms);
        },
      );
      findings.push(...compareWith(bench, mine!, middle(alone), stock));
    }
  }
  connection.close();
  await gateway.stop();
  return findings;
}

/** Fifty commits in a row, each changing one of a hundred files. */
async function commits(stage: Stage, gateway: Server): Promise<Finding[]> {
  const connection = await stage.line(gateway);
  const [mine, alone, stock]: [Measure[], Measure[], number[]] = [[], [], []];
  for (let round = 0; round < stage.options.rounds; round++) {
    const repo = `${stage.account.username}/commits-${round}`;
    await connection.call("repo.apply", { repo, ...change(0) });
    const samples: number[] = [];
    for (let at = 1; at <= COMMITS; at++) {
      const startedAt = performance.now();
      await connection.call("repo.apply", { repo, ...change(at) });
      samples.push(performance.now() - startedAt);
    }
    const total = samples.reduce((sum, ms) => sum + ms, 0);
    mine.push({ perSecond: (COMMITS * 1000) / total, p50Ms: percentile(samples, 0.5), p99Ms: percentile(samples, 0.99) });
    alone.push(
      await stage.alone({ work: "commit", folder: stage.children.folder(), files: FILES, fileBytes: FILE_BYTES, commits: COMMITS }),
    );
    const folder = history(stage, COMMITS + 1);
    stock.push((await folder.ready) / COMMITS);
  }
  connection.close();
  return compareWith(`repo.apply, ${COMMITS} commits`, middle(mine), middle(alone), stock, "git fast-import");
}

function compareWith(bench: string, mine: Measure, alone: Measure, stock: number[], git = "git"): Finding[] {
  const perSecond = 1000 / percentile(stock, 0.5);
  return [
    { bench: `${bench}, isomorphic-git`, gateway: mine, floor: alone, ratio: mine.perSecond! / alone.perSecond!, goal: "", pass: null },
    { bench: `${bench}, ${git}`, gateway: mine, floor: { perSecond }, ratio: mine.perSecond! / perSecond, goal: "", pass: null },
  ];
}

/** The first change adds all files, each of the others changes one. */
function change(at: number) {
  const numbers = at === 0 ? Array.from({ length: AT_ONCE_OPS }, (_, file) => file) : [at % FILES];
  const ops = numbers.map((file) => ({ type: "put" as const, path: `f${file}.txt`, content: textOf(file + at * FILES, FILE_BYTES) }));
  return { message: `change ${at}`, ops };
}

/** The same commits in a bare repository made by git itself; `ready` resolves to how long git took. */
function history(stage: Stage, commits: number): { path: string; ready: Promise<number> } {
  const folder = stage.children.folder();
  const path = join(folder, "bare.git");
  mkdirSync(path);
  const lines: string[] = [];
  for (let at = 0; at < commits; at++) {
    const { message, ops } = change(at);
    lines.push(
      "commit refs/heads/main",
      `committer bench <bench@gsv.local> ${1_700_000_000 + at} +0000`,
      `data ${message.length}`,
      message,
    );
    for (const op of ops) lines.push(`M 100644 inline ${op.path}`, `data ${op.content.length}`, op.content);
  }
  const stream = join(folder, "stream");
  writeFileSync(stream, lines.join("\n"));
  const { children } = stage;
  const ready = (async () => {
    await children.command(["git", "init", "-q", "--bare", "-b", "main", path]);
    return (await children.command(["sh", "-c", 'git --git-dir "$1" fast-import --quiet < "$2"', "sh", path, stream])).ms;
  })();
  return { path, ready };
}
