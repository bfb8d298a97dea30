// Reads, pipelined on one socket: the cost from frame to handler and back.

import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";

const KEY = "config/server/name";
const GOAL = 0.5;

export async function read(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const answers = { "sys.config.get": { entries: [{ key: KEY, value: "gsv" }] } };
  const bare = await stage.floor("bare", answers);
  const corked = await stage.floor("corked", answers);
  const [mine, plain, best] = await stage.compare([gateway, bare, corked], (target) => ({
    do: "pipeline",
    target,
    call: "sys.config.get",
    args: [{ key: KEY }],
    inFlight: 32,
    seconds: stage.options.seconds,
  }));
  await Promise.all([gateway, bare, corked].map((server) => server.stop()));
  const ratio = mine!.perSecond! / plain!.perSecond!;
  return [
    { bench: "read", gateway: mine!, floor: plain!, ratio, goal: ">= 0.5 of the bare floor", pass: ratio >= GOAL },
    // No goal: the distance to a floor that also batches its writes.
    { bench: "read, floor corked", gateway: mine!, floor: best!, ratio: mine!.perSecond! / best!.perSecond!, goal: "", pass: null },
  ];
}
