// A real gateway and a real daemon are each killed at random moments during a stream of commands that write their own number.
// Afterwards each number is there at most once; exactly once if the command was acknowledged; not at all if it was refused; and
// every other was reported as unknown.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CallError, type Client, connect, ConnectionLost } from "../../../src/client/client.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { steadyPort } from "../../support/steady-port.ts";
import type { Bar } from "../bar.ts";
import type { Random } from "../crash/random.ts";
import { FIRST, setUp } from "../crash/world.ts";
import { pause } from "./asker.ts";

type Fate = "done" | "refused" | "unknown";

const LANES = 3;
const DEVICE = "victim";
/** After the last kill, everything must end within this time. */
const END_MS = 120_000;

export async function kills(bar: Bar, random: Random, scratch: string, bundle: string, count: number): Promise<void> {
  const [home, workspace, state] = ["home", "work", "state"].map((name) => join(scratch, name)) as [string, string, string];
  for (const folder of [home, workspace, state]) mkdirSync(folder);
  const port = await steadyPort();
  const url = `http://127.0.0.1:${port}`;
  const gateway = new Victim(bundle, ["up", "--home", home, "--port", String(port)], { HOME: home }, /GSV is up/);
  await gateway.start();
  await setUp(url);
  const auth = { username: FIRST.username, password: FIRST.password };
  const client = await connect({ url, auth });
  const { token } = await client.call("sys.token.create", { kind: "node", allowedDeviceId: DEVICE });
  const env = { HOME: home, GSV_HOME: state, GSV_DEVICE_TOKEN: token.token, SHELL: "/bin/sh" };
  const args = ["--url", url, "-u", FIRST.username, "device", "run", "--id", DEVICE, "--workspace", workspace];
  const daemon = new Victim(bundle, args, env, /is connected/);
  await daemon.start();
  const fates = new Map<number, Fate>();
  let isOver = false;
  const lanes = Array.from({ length: LANES }, (_, lane) => stream(client, fates, lane, () => isOver));
  for (let killed = 0; killed < count; killed++) {
    await pause(random.int(50, 1_500));
    const victim = random.chance(0.5) ? gateway : daemon;
    await victim.kill();
    await pause(random.int(0, 300));
    await victim.start();
    bar.check("kills", true, () => "");
  }
  // Some more commands without kills.
  const before = fates.size;
  const until = Date.now() + END_MS;
  while (fates.size < before + 3 * LANES && Date.now() < until) await pause(50);
  isOver = true;
  const patience = new AbortController();
  const hung = await Promise.race([Promise.all(lanes).then(() => false), sleep(END_MS, patience.signal).then(() => true)]);
  patience.abort();
  bar.check("no hangs", !hung, () => "commands were neither answered nor given up");
  client.close();
  judge(bar, fates, readFileSync(join(workspace, "log"), "utf8"));
  await daemon.kill();
  await gateway.kill();
}

/** Runs one command after the other, with the client that people use. */
async function stream(client: Client, fates: Map<number, Fate>, lane: number, isOver: () => boolean): Promise<void> {
  for (let at = 0; !isOver(); at++) {
    const number = at * LANES + lane;
    const fate = await run(client, number);
    fates.set(number, fate);
    // An offline device refuses at once.
    if (fate !== "done") await pause(50);
  }
}

async function run(client: Client, number: number): Promise<Fate> {
  try {
    const first = await client.call("shell.exec", { target: DEVICE, input: `echo ${number} >> log` });
    let result = first;
    while (result.status === "running") {
      const { sessionId } = result;
      result = await client.call("shell.exec", { target: DEVICE, sessionId, input: "" });
      // The session ended with the daemon that ran it.
      if (result.status === "failed" && result.exitCode === undefined) return "unknown";
    }
    return result.status === "completed" ? "done" : "unknown";
  } catch (error) {
    if (error instanceof ConnectionLost) return "unknown";
    if (!(error instanceof CallError)) throw error;
    const { outcome } = (error.details ?? {}) as { outcome?: string };
    return outcome === undefined ? "refused" : outcome === "done" ? "done" : "unknown";
  }
}

function judge(bar: Bar, fates: ReadonlyMap<number, Fate>, log: string): void {
  const counts = new Map<number, number>();
  for (const line of log.split("\n")) if (line !== "") counts.set(Number(line), (counts.get(Number(line)) ?? 0) + 1);
  for (const [number, fate] of fates) {
    const count = counts.get(number) ?? 0;
    bar.check(`commands ${fate}`, count <= 1, () => `command ${number} was carried out ${count} times`);
    if (fate === "done") bar.check("acknowledged", count === 1, () => `command ${number} was acknowledged and is there ${count} times`);
    if (fate === "refused") bar.check("refused", count === 0, () => `command ${number} was refused and is there ${count} times`);
  }
  for (const number of counts.keys()) if (!fates.has(number)) bar.check("known", false, () => `command ${number} has no fate`);
}

/** The real CLI in its own process. */
class Victim {
  readonly #command: string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #isUp: RegExp;
  #child: ChildProcess | null = null;

  constructor(bundle: string, args: string[], env: NodeJS.ProcessEnv, isUp: RegExp) {
    this.#command = [join(bundle, "gsv.js"), ...args];
    this.#env = { PATH: process.env.PATH, ...env };
    this.#isUp = isUp;
  }

  /** Resolves when it prints that it is up, or has ended; a daemon does so once the gateway is up. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, this.#command, { env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    let output = "";
    await new Promise<void>((resolve) => {
      const collect = (text: string) => {
        output += text;
        if (this.#isUp.test(output)) resolve();
      };
      child.stdout.setEncoding("utf8").on("data", collect);
      child.stderr.setEncoding("utf8").on("data", collect);
      child.once("exit", () => resolve());
    });
  }

  async kill(): Promise<void> {
    if (this.#child === null || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}
