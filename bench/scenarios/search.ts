// fs.search through many small files, in the stored tree and in a workspace, which is git, compared to Node reading the same
// files one after the other, and to grep. One file in a hundred matches.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { type Measure, middle, percentile } from "../stats.ts";
import { inTurns, textOf } from "../text.ts";

const COUNTS = [1_000, 10_000];
const FILE_BYTES = 1024;
const PER_FOLDER = 100;
const AT_ONCE = 128;
const OPS = 500;
const QUERY = "needle in a haystack";

export async function search(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const connection = await stage.line(gateway);
  const findings: Finding[] = [];
  for (const count of COUNTS) {
    const tree = `/home/${stage.account.username}/search-${count}`;
    await inTurns(0, count, AT_ONCE, async (at) => {
      const written = await connection.call("fs.write", { path: join(tree, nameOf(at)), content: contentOf(at) });
      if (!written.ok) throw new Error(written.error);
    });
    const { workspace, repo } = await connection.call("sys.workspace.create", { label: "search" });
    for (let from = 0; from < count; from += OPS) {
      const ops = Array.from({ length: OPS }, (_, at) => ({
        type: "put" as const,
        path: nameOf(from + at),
        content: contentOf(from + at),
      }));
      await connection.call("repo.apply", { repo, message: `files from ${from}`, ops });
    }
    const folder = stage.children.folder();
    for (let at = 0; at < count; at++) {
      mkdirSync(dirname(join(folder, nameOf(at))), { recursive: true });
      writeFileSync(join(folder, nameOf(at)), contentOf(at));
    }
    for (const [where, path] of Object.entries({ tree, git: `/workspaces/${workspace.workspaceId}` })) {
      const found = await connection.call("fs.search", { query: QUERY, path });
      if (!found.ok || found.count !== count / 100 || found.truncated) throw new Error(`Not found: ${JSON.stringify(found).slice(0, 300)}`);
      const [alone, grep]: [Measure[], number[]] = [[], []];
      const [mine] = await stage.compare(
        [gateway],
        (target) => ({
          do: "pipeline",
          target,
          call: "fs.search",
          args: [{ query: QUERY, path }],
          inFlight: 1,
          seconds: stage.options.seconds,
        }),
        async () => {
          alone.push(await stage.alone({ work: "search", folder, query: QUERY, seconds: stage.options.seconds }));
          grep.push((await stage.children.command(["grep", "-rFn", QUERY, folder])).ms);
        },
      );
      const bench = `fs.search ${count.toLocaleString("en")} files in ${where}`;
      const perSecond = 1000 / percentile(grep, 0.5);
      const floor = middle(alone);
      findings.push(
        { bench: `${bench}, node:fs`, gateway: mine!, floor, ratio: mine!.perSecond! / floor.perSecond!, goal: "", pass: null },
        { bench: `${bench}, grep`, gateway: mine!, floor: { perSecond }, ratio: mine!.perSecond! / perSecond, goal: "", pass: null },
      );
    }
  }
  connection.close();
  await gateway.stop();
  return findings;
}

function nameOf(at: number): string {
  return `d${Math.floor(at / PER_FOLDER)}/f${at}.txt`;
}

function contentOf(at: number): string {
  return textOf(at, FILE_BYTES) + (at % 100 === 0 ? `a ${QUERY}\n` : "");
}
