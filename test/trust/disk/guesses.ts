// Guessing on a full disk: no commit of the kernel succeeds, and the counts of guesses must not be lost with it. At every
// entrance only as many guesses are checked as on a healthy disk.

import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CallError } from "../../../src/client/client.ts";
import { type AnyFrame, RawSocket } from "../../support/raw-socket.ts";
import type { Bar } from "../bar.ts";
import { Gateway } from "../crash/gateway.ts";
import { enter } from "../crash/lane.ts";
import { copyOf, FIRST, type Setup } from "../crash/world.ts";

const GUESSES = 40;
/** Guesses of a setup code: nobody is logged in then, so each waits for the commit of relaxed rows. */
const CODES = 10;
const POLL_MS = 20;

/** An entrance: how many tries it allows at once, and how long until it allows one more. */
type Entrance = { name: string; burst: number; everyMs: number; guess: (at: number) => Promise<number> };

const PASSWORDS = { burst: 5, everyMs: 60_000 };
const TOKENS = { burst: 20, everyMs: 10_000 };

export async function guesses(bundle: string, setup: Setup, template: string, scratch: string, bar: Bar): Promise<void> {
  await Promise.all([atLogins(bundle, setup, copyOf(template, join(scratch, "guesses")), bar), atSetup(bundle, scratch, bar)]);
}

async function atLogins(bundle: string, setup: Setup, home: string, bar: Bar): Promise<void> {
  const full = `${home}-full`;
  const gateway = new Gateway(bundle, home, { fullWhile: full });
  const url = await addressOf(gateway);
  const root = setup.people[0]!;
  const { line } = await enter(url, { username: root.username, token: root.token }, { id: "operator" });
  await line.call("sys.config.set", { key: "config/server/name", value: "before" });
  writeFileSync(full, "");
  const entrances: Entrance[] = [
    {
      name: "password",
      ...PASSWORDS,
      guess: (at) => codeOf(url, (socket) => socket.connect({ username: "w1", password: `guess ${at}` })),
    },
    {
      name: "password over git",
      ...PASSWORDS,
      guess: async (at) => {
        const headers = { authorization: `Basic ${btoa(`w2:guess ${at}`)}` };
        return (await fetch(`${url}/git/w2/home/info/refs?service=git-upload-pack`, { headers })).status;
      },
    },
    {
      name: "token",
      ...TOKENS,
      guess: (at) => codeOf(url, (socket) => socket.connect({ username: "w3", token: `gsv_user_${at}` })),
    },
  ];
  // An awaited write is committed at once, with everything counted until then.
  const lose = async () => {
    const outcome = await line.call("sys.config.set", { key: "config/server/name", value: "lost" }).catch((error: unknown) => error);
    if (!(outcome instanceof CallError) || outcome.code !== 507) throw new Error(`a commit on a full disk: ${JSON.stringify(outcome)}`);
  };
  try {
    for (const entrance of entrances) await tryAt(entrance, GUESSES, 401, lose, bar);
  } finally {
    line.close();
    rmSync(full, { force: true });
    await gateway.kill();
  }
}

async function atSetup(bundle: string, scratch: string, bar: Bar): Promise<void> {
  const home = join(scratch, "codes");
  mkdirSync(home);
  const full = `${home}-full`;
  const gateway = new Gateway(bundle, home, { fullWhile: full }, 0, ["--trust-proxy", "127.0.0.1"]);
  const url = await addressOf(gateway);
  writeFileSync(full, "");
  const guess = (at: number) => codeOf(url, (socket) => socket.call("sys.setup", { ...FIRST, code: `GUESS-${at}` }, String(at)));
  const lose = async () => {
    const before = statSync(full).size;
    while (statSync(full).size === before && !gateway.isOver) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  };
  let isRefused = false;
  const entrance: Entrance = {
    name: "setup code",
    ...PASSWORDS,
    guess: async (at) => {
      const code = await guess(at);
      isRefused = code === 429;
      return code;
    },
  };
  try {
    // A refused guess writes nothing, so there is nothing to lose.
    await tryAt(entrance, CODES, 403, async () => void (isRefused || (await lose())), bar);
  } finally {
    rmSync(full, { force: true });
    await gateway.kill();
  }
}

async function tryAt(
  { name, burst, everyMs, guess }: Entrance,
  times: number,
  wrong: number,
  lose: () => Promise<void>,
  bar: Bar,
): Promise<void> {
  const startedAt = performance.now();
  const codes: number[] = [];
  for (let at = 0; at < times; at++) {
    codes.push(await guess(at));
    await lose();
  }
  const looked = codes.filter((code) => code === wrong).length;
  const allowed = burst + Math.ceil((performance.now() - startedAt) / everyMs);
  bar.check("guessing", looked <= allowed, () => `${looked} of ${times} guesses at a ${name} were looked at on a full disk`);
  bar.check("guessing", looked > 0 && codes.every((code) => code === wrong || code === 429), () => `at a ${name}: ${codes.join(" ")}`);
}

/** On a new socket: a stranger's socket is closed after a while. */
async function codeOf(url: string, ask: (socket: RawSocket) => Promise<AnyFrame>): Promise<number> {
  const socket = await RawSocket.open(url, { localAddress: "127.0.3.1" });
  try {
    return (await ask(socket)).error?.code ?? 200;
  } finally {
    socket.terminate();
  }
}

async function addressOf(gateway: Gateway): Promise<string> {
  return (await gateway.ready) ?? Promise.reject(new Error(`the gateway ended before it was up: ${gateway.complaint}`));
}
