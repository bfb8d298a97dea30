// Durable writes, pipelined on one socket: the output gate against a floor that commits once per turn of the event loop and one
// that commits once per call.

import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";

const IN_FLIGHT = 32;
const KEYS = 256;
/** A WAL page for a full batch is 128 bytes per call; less means that writes were skipped. */
const DISK_BYTES_LEAST = 100;
const GOAL = 0.5;
const GOAL_PER_CALL = 3;

export async function write(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const answers = { "sys.config.set": { ok: true } };
  const tick = await stage.floor("tick", answers);
  const call = await stage.floor("call", answers);
  // SQLite skips a write that changes nothing, and with it the sync, so each key is set again with another value.
  const args = Array.from({ length: 2 * KEYS }, (_, at) => ({
    key: `users/${stage.account.uid}/ai/bench/${at % KEYS}`,
    value: `value ${at} ${"x".repeat(at % 32)}`,
  }));
  const [mine, perTick, perCall] = await stage.compare([gateway, tick, call], (target) => ({
    do: "pipeline",
    target,
    call: "sys.config.set",
    args,
    inFlight: IN_FLIGHT,
    seconds: stage.options.seconds,
  }));
  await Promise.all([gateway, tick, call].map((server) => server.stop()));
  for (const [name, measure] of Object.entries({ gateway: mine!, tick: perTick!, call: perCall! }))
    if (!(measure.diskBytesPerCall! >= DISK_BYTES_LEAST))
      throw new Error(`write: the ${name} wrote next to nothing, so nothing was measured`);
  const ratio = mine!.perSecond! / perTick!.perSecond!;
  const times = mine!.perSecond! / perCall!.perSecond!;
  return [
    { bench: "write, per turn", gateway: mine!, floor: perTick!, ratio, goal: ">= 0.5 of the per-turn floor", pass: ratio >= GOAL },
    {
      bench: "write, per call",
      gateway: mine!,
      floor: perCall!,
      ratio: times,
      goal: ">= 3x the per-call floor",
      pass: times >= GOAL_PER_CALL,
    },
  ];
}
