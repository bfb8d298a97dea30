// fs.write and fs.read over a socket, compared to a server that does the same on node:fs. The gateway answers a write when it is
// on disk, and a reader sees it whole or not at all; the `disk` floor promises neither, the `synced` one only the first.

import type { Server } from "../children.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { textOf } from "../text.ts";

const SIZES = [
  { name: "256 B", bytes: 256, paths: 256 },
  { name: "1 MB", bytes: 1_000_000, paths: 32 },
];
const GOALS: Record<string, number> = { "fs.write 256 B, 32 in flight, floor disk": 0.5, "fs.read 256 B, 32 in flight, floor disk": 1 };

export async function files(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const [disk, synced] = [await stage.floor("disk"), await stage.floor("synced")];
  const findings: Finding[] = [];
  for (const size of SIZES) {
    // Each path is written again with other content, since the gateway does not write content that it has already.
    const writes = Array.from({ length: 2 * size.paths }, (_, at) => ({ path: pathOf(stage, size.bytes, at % size.paths) }));
    const reads = writes.slice(0, size.paths);
    for (const server of [gateway, disk, synced]) await fill(stage, server, reads, size.bytes);
    for (const inFlight of [32, 1]) {
      const compare = async (call: "fs.write" | "fs.read", servers: readonly Server[]) => {
        const [mine, ...theirs] = await stage.compare(servers, (target) => ({
          do: "pipeline",
          target,
          call,
          args: call === "fs.write" ? writes : reads,
          ...(call === "fs.write" ? { contentBytes: size.bytes } : {}),
          inFlight,
          seconds: stage.options.seconds,
        }));
        for (const [at, floor] of theirs.entries()) {
          const bench = `${call} ${size.name}, ${inFlight} in flight, floor ${at === 0 ? "disk" : "synced"}`;
          const goal = GOALS[bench];
          const ratio = mine!.perSecond! / floor.perSecond!;
          const pass = goal === undefined ? null : ratio >= goal;
          findings.push({ bench, gateway: mine!, floor, ratio, goal: goal === undefined ? "" : `>= ${goal} of the floor`, pass });
        }
      };
      await compare("fs.write", [gateway, disk, synced]);
      await compare("fs.read", [gateway, disk]);
    }
  }
  await Promise.all([gateway, disk, synced].map((server) => server.stop()));
  return findings;
}

/** Writes each file once and checks the answers, because the load does not: a refused write is an answer too. */
async function fill(stage: Stage, server: Server, args: readonly { path: string }[], bytes: number): Promise<void> {
  const connection = await stage.line(server);
  for (const [at, { path }] of args.entries()) {
    const written = await connection.call("fs.write", { path, content: textOf(at, bytes) });
    const read = await connection.call("fs.read", { path });
    if (!written.ok || !read.ok) throw new Error(`Not written and read: ${JSON.stringify([written, read]).slice(0, 500)}`);
  }
  connection.close();
}

function pathOf({ account }: Stage, bytes: number, at: number): string {
  return `/home/${account.username}/bench/${bytes}/f${at}.txt`;
}
