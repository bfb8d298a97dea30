// Runs one world from one seed: a stormy phase in which anything may fail, a quiet phase in which everything must finish, and a
// last crash after which every promise is checked once more.

import { Random } from "../support/memory/random.ts";
import { type Book, type Person, SimClient } from "./client.ts";
import { World, type WorldOptions } from "./world.ts";

export type Outcome = {
  seed: string;
  hash: string;
  steps: number;
  virtualMs: number;
  violations: string[];
  counts: Record<string, number>;
  tail: string[];
};

/** Longer than the timeout of a device on a connection whose loss is noticed late. */
const QUIET_MS = 90_000;
const PAUSE_MS = 2 * 60 * 60 * 1000;
/** Long enough for the kernel to fall asleep, and for late answers to wake it. */
const SLEEP_MS = 45_000;

const PEOPLE: Person[] = [
  { username: "alice", role: "user", clientId: "alice-cli", address: "10.0.0.1" },
  { username: "root", role: "user", clientId: "root-cli", address: "10.0.0.2" },
  { username: "bob", role: "user", clientId: "bob-cli", address: "10.0.0.3" },
  { username: "alice", role: "user", clientId: "alice-web", address: "10.0.0.1" },
  { username: "bob", role: "user", clientId: "bob-web", address: "2001:db8::7" },
  { username: "alice", role: "driver", clientId: "alice-laptop", address: "10.0.0.4" },
  { username: "bob", role: "driver", clientId: "bob-laptop", address: "10.0.0.5" },
  { username: "bob", role: "driver", clientId: "alice-laptop", address: "10.0.0.5" },
  { username: "root", role: "service", clientId: "root-chat", address: "10.0.0.6" },
];

export async function simulate(seed: string, steps: number, options: WorldOptions = {}): Promise<Outcome> {
  const world = new World(seed, options);
  const { agenda, judge, trace } = world;
  const random = new Random(`${seed}/people`);
  const book: Book = { passwords: new Map(), tokens: [], uids: new Map(), gids: [], orders: [], count: 0 };
  let isStormy = true;
  let pausedUntil = 0;
  const live = (client: SimClient) => {
    if (!isStormy) return;
    if (agenda.now >= pausedUntil) client.act();
    agenda.at(Math.max(pausedUntil, agenda.now) + random.between(20, 1_500), `act ${client.person.clientId}`, () => live(client));
  };
  for (const person of PEOPLE) {
    const client = new SimClient(world, random, book, person);
    agenda.after(random.between(0, 2_000), "arrive", () => live(client));
  }
  const storm = () => {
    if (!isStormy) return;
    // Sometimes all clients pause for hours, and only due work happens.
    if (random.chance(0.01)) pausedUntil = agenda.now + PAUSE_MS;
    else if (random.chance(0.25)) {
      pausedUntil = agenda.now + SLEEP_MS;
      world.sleep();
    } else world.fault();
    agenda.at(Math.max(pausedUntil, agenda.now) + random.between(50, 4_000), "storm", storm);
  };
  agenda.after(5_000, "storm", storm);

  const startedAt = agenda.now;
  let done = 0;
  const run = async (until: number, most: number): Promise<void> => {
    for (let i = 0; i < most && judge.violations.length === 0; i++) {
      const item = agenda.take(until);
      if (item === undefined) return;
      done++;
      trace.add(agenda.now, item.what);
      item.run();
      await yieldToLoop();
      judge.checkLines();
    }
  };
  await run(Infinity, steps);
  isStormy = false;
  world.calm();
  await run(agenda.now + QUIET_MS, 100_000);
  if (judge.violations.length === 0) world.checkQuiet();
  if (judge.violations.length === 0) {
    world.crash();
    await run(agenda.now + QUIET_MS, 1_000);
  }
  world.close();
  const { violations, counts } = judge;
  return { seed, hash: trace.digest(), steps: done, virtualMs: Math.round(agenda.now - startedAt), violations, counts, tail: trace.tail };
}

/** Yields to the event loop, so that every promise that can continue does, without guessing a number of ticks. */
function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
