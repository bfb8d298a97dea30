// How many pieces of a streamed answer the gateway passes on per second, to 1, 10 and 100 connections that follow the process, beside a
// server that parses each piece and sends it to all of them. The gateway may send several pieces as one message under load.

import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";

const FOLLOWERS = [1, 10, 100];
const PIECES = 2_000;

export async function streams(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const provider = await stage.provider(gateway);
  const floor = await stage.turnFloor(provider);
  const connection = await stage.line(gateway);
  const findings: Finding[] = [];
  for (const followers of FOLLOWERS) {
    // A process of its own for each, so that none of them has a longer history to send.
    const { pid } = await connection.call("proc.spawn", { profile: "task", label: `streams ${followers}` });
    const [mine, theirs] = await stage.compare([gateway, floor], (target) => ({
      do: "stream",
      target,
      pid,
      pieces: PIECES,
      followers,
      seconds: stage.options.seconds,
    }));
    const ratio = mine!.perSecond! / theirs!.perSecond!;
    findings.push({ bench: `stream, pieces, ${followers} followers`, gateway: mine!, floor: theirs!, ratio, goal: "", pass: null });
  }
  connection.close();
  await Promise.all([gateway, floor, provider].map((server) => server.stop()));
  return findings;
}
