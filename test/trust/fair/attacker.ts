// One attack in its own process, so that its CPU time does not affect what the other user measures. Prepares, reports that it is
// ready, starts and ends on a message, and then reports its tally.

import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ATTACKS, open, type Tally, type Target } from "./attacks.ts";

const DONE_MS_MAX = 60_000;
const POLL_MS = 20;

const { name, target } = JSON.parse(process.argv[2]!) as { name: string; target: Target };
const attack = ATTACKS.find((one) => one.name === name)!;
const connection = await open(target, "attacker");
await attack.prepare?.(connection, target);
process.send!("ready");
await once(process, "message");
const over = new AbortController();
process.once("message", () => over.abort());
process.once("disconnect", () => process.exit(1));
const tally: Tally = { answered: 0, joined: 0, failed: 0, refused: 0, cut: 0, slowestMs: 0, errors: [] };
const isOver = new Promise((resolve) => over.signal.addEventListener("abort", resolve, { once: true }));
await Promise.race([attack.run({ target, line: connection, until: over.signal, tally }), isOver]);
await isOver;
// On a busy machine it may take a while until the first call is done.
for (const until = performance.now() + DONE_MS_MAX; tally.answered === 0 && performance.now() < until;) await sleep(POLL_MS);
await attack.end?.(connection);
process.send!(tally, () => process.exit(0));
