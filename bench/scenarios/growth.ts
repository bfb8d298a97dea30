// Whether reading one small file gets slower when there are more files: spread over directories, and all in one. Each step is
// measured together with the same floor, and CPU time is compared as a multiple of the floor's: the steps are minutes apart, and
// on a busy machine throughput depends on other programs.

import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { inTurns, textOf } from "../text.ts";

const COUNTS = [100, 1_000, 10_000, 100_000];
const PER_FOLDER = 100;
const BYTES = 256;
const AT_ONCE = 256;
const GOAL = 1.25;

export async function growth(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const floor = await stage.floor("bare", { "fs.read": { ok: true, content: textOf(0, BYTES), path: "f", lines: 4, size: BYTES } });
  const connection = await stage.line(gateway);
  const findings: Finding[] = [];
  const layouts = {
    spread: (at: number) => `/home/${stage.account.username}/spread/d${Math.floor(at / PER_FOLDER)}/f${at}.txt`,
    "one directory": (at: number) => `/home/${stage.account.username}/flat/f${at}.txt`,
  };
  for (const [layout, pathOf] of Object.entries(layouts)) {
    let writtenCount = 0;
    let first = Number.NaN;
    for (const count of COUNTS) {
      await inTurns(writtenCount, count, AT_ONCE, async (at) => {
        const written = await connection.call("fs.write", { path: pathOf(at), content: textOf(at, BYTES) });
        if (!written.ok) throw new Error(written.error);
      });
      writtenCount = count;
      const args = Array.from({ length: 64 }, (_, at) => ({ path: pathOf(Math.floor((at * count) / 64)) }));
      const [mine, theirs] = await stage.compare([gateway, floor], (target) => ({
        do: "pipeline",
        target,
        call: "fs.read",
        args,
        inFlight: 32,
        seconds: stage.options.seconds,
      }));
      const share = mine!.cpuMsPerCall! / theirs!.cpuMsPerCall!;
      if (Number.isNaN(first)) first = share;
      const bench = `fs.read, ${count.toLocaleString("en")} files, ${layout}`;
      const ratio = share / first;
      findings.push({ bench, gateway: mine!, floor: theirs!, ratio, goal: "CPU <= 1.25x that with 100", pass: ratio <= GOAL });
    }
  }
  connection.close();
  await Promise.all([gateway, floor].map((server) => server.stop()));
  return findings;
}
