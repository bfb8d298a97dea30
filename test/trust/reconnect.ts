// trust:reconnect. The client's connection is cut at every byte of what it sends with a message, and of what it receives while
// the answer streams. Each message is stored once, and a follower sees every event once. `--cuts all` cuts everywhere, `--cuts N`
// at that many places in each direction.

import { randomUUID } from "node:crypto";
import { type Client, connect, ConnectionLost } from "../../src/client/client.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, enter, populate, ROOT } from "../support/people.ts";
import { Bar, flag } from "./bar.ts";
import { named } from "./devices/faults.ts";
import { type Direction, Proxy } from "./devices/proxy.ts";
import { answerTo, SlowModel } from "./reconnect/slow.ts";
import { Screen } from "./reconnect/screen.ts";
import { pages } from "./runs/oracle.ts";

type Cut = { way: Direction; after: number };

const LANES = 12;
const PIECE_MS = 6;
const PATIENCE_MS = 60_000;
const SAMPLE = 60;

const bar = new Bar("B12 trust:reconnect");
const host = await startNodeHost();
await populate(host);
const model = await SlowModel.start(PIECE_MS);
const root = await enter(host, ROOT);
const settings = { provider: "openai-compatible", base_url: model.baseUrl, model: "slow", api_key: "key" };
for (const [name, value] of Object.entries(settings)) await root.call("sys.config.set", { key: `config/ai/${name}`, value });
root.close();
const owner = await enter(host, ALICE);
const { token } = await owner.call("sys.token.create", { kind: "user" });

let messageCount = 0;
const first = await openLane();
await first.say(null);
const size = await first.say(null);
const wanted = flag("cuts") === "all" ? Infinity : Number(flag("cuts") ?? SAMPLE);
const cuts = (["up", "down"] as const).flatMap((way) => places(size[way]).map((after): Cut => ({ way, after })));
const lanes = [first, ...(await Promise.all(Array.from({ length: Math.min(LANES, cuts.length) - 1 }, () => openLane())))];
// Neighbouring cuts go to different lanes, so that each lane has long and short waits.
await Promise.all(
  lanes.map(async ({ say }, at) => {
    for (let next = at; next < cuts.length; next += lanes.length) await say(cuts[next]!);
  }),
);
for (const one of lanes) await one.end();
bar.numbers["bytes up"] = size.up;
bar.numbers["bytes down"] = size.down;
owner.close();
await host.close();
await model.close();
bar.end();

function places(bytes: number): number[] {
  const step = Math.max(1, bytes / wanted);
  return Array.from({ length: Math.ceil(bytes / step) }, (_, at) => Math.floor(at * step));
}

/** One process, and a client that talks to it through its own proxy. */
async function openLane() {
  const { pid } = await owner.call("proc.spawn", { profile: "task" });
  const proxy = await Proxy.to(Number(new URL(host.url).port));
  const auth = { username: "alice", token: token.token };
  const client = await connect({ url: proxy.url, auth, WebSocket: named(new URL(host.url).host) });
  const screen = new Screen(client, pid);
  await screen.following.begun;
  const said: string[] = [];

  /** Sends a message, cuts the connection there, and waits for the answer. Returns how many bytes passed. */
  const say = async (cut: Cut | null): Promise<Record<Direction, number>> => {
    const before = { ...proxy.passed };
    const message = `#${++messageCount} tell me`;
    const runId = randomUUID();
    said.push(message);
    const ended = screen.ended(runId);
    if (cut !== null) proxy.cutAfter(cut.way, cut.after);
    await sendUntilAccepted(client, pid, runId, message);
    const shown = await orTimeout(ended);
    const story = () => `${message}, cut ${JSON.stringify(cut)}: shown ${shown}`;
    bar.check(cut === null ? "uncut" : `cuts ${cut.way}`, shown === answerTo(message), story);
    for (const wrong of screen.wrong.splice(0)) bar.check("shown once", false, () => `${message}, cut ${JSON.stringify(cut)}: ${wrong}`);
    return { up: proxy.passed.up - before.up, down: proxy.passed.down - before.down };
  };

  const end = async (): Promise<void> => {
    const messages = await pages((page) => owner.call("proc.history", { pid, ...page }));
    const stored = messages.flatMap(({ role, content }) => (role === "user" ? String(content) : []));
    bar.check("stored once", JSON.stringify(stored) === JSON.stringify(said), () => `${stored.join(", ")} instead of ${said.join(", ")}`);
    const answers = messages.filter(({ role }) => role === "assistant").length;
    bar.check("answered once", answers === said.length, () => `${answers} answers to ${said.length} messages`);
    bar.numbers["answers taken up in the middle"] = Number(bar.numbers["answers taken up in the middle"] ?? 0) + screen.resumed;
    client.close();
    await proxy.close();
  };
  return { say, end };
}

/** Retries until it is accepted: the same runId is the same message, however often it is sent. */
async function sendUntilAccepted(client: Client, pid: string, runId: string, message: string): Promise<void> {
  for (;;) {
    try {
      await client.call("proc.send", { pid, runId, message });
      return;
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
    }
  }
}

async function orTimeout(ended: Promise<string | null>): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<string>((resolve) => (timer = setTimeout(() => resolve("nothing: it hangs"), PATIENCE_MS)));
  return Promise.race([ended, timeout]).finally(() => clearTimeout(timer));
}
