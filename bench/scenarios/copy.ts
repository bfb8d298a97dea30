// One large file from device to device through the gateway, and between this process and the gateway's own files, beside the
// same bytes over plain TCP with as many processes in between. A copy of ours is hashed at both ends and on disk when it is
// answered: so the floor is asked to sync as well; what it gives without is told for information.

import { once } from "node:events";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import type { Server } from "../children.ts";
import { here, there } from "../../src/cli/files/copy-endpoint.ts";
import { socketConstructor } from "../../src/cli/session/socket.ts";
import { transfer } from "../../src/cli/files/transfer.ts";
import { type Client, connect } from "../../src/client/client.ts";
import { hashPieces } from "../../src/hosts/shared/crypto.ts";
import { cpuMs, rssKb } from "../proc.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { type Measure, middle } from "../stats.ts";
import type { Order } from "../tcp.ts";

const WARM_UP_BYTES = 1024 * 1024;
const LOOK_EVERY_MS = 50;
const GROWTH_MB_MAX = 64;
const MB = 1_000_000;

/** `server` is what is in the middle, or at the one end. */
type Way = { name: string; server: Server; ends: Server[]; copy: (file: string) => Promise<void> };

export async function copy(stage: Stage): Promise<Finding[]> {
  const bytes = stage.options.megabytes * MB;
  const gateway = await stage.gateway();
  const [from, to] = [stage.children.folder(), stage.children.folder()];
  const daemons = [await stage.device(gateway, "from", from), await stage.device(gateway, "to", to)];
  const client = await connect({
    url: `http://127.0.0.1:${gateway.port}`,
    auth: { username: stage.account.username, token: stage.account.token },
    newHash: hashPieces,
    WebSocket: await socketConstructor(),
  });
  const ways = { ...ours(client, gateway, daemons, to), ...(await floors(stage, to)) };
  const file = join(from, "large");
  const results = Object.fromEntries(Object.keys(ways).map((name) => [name, [] as Measure[]]));
  for (let round = 0; round < stage.options.rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      // Another content each time: the gateway keeps the same one only once.
      if (round === 0) {
        fill(file, WARM_UP_BYTES, 0);
        await way.copy(file);
      }
      fill(file, bytes, round);
      results[name]!.push(await measured(way, file, bytes));
    }
  }
  client.close();
  const all = new Set(Object.values(ways).flatMap(({ server, ends }) => [server, ...ends]));
  await Promise.all([...all, gateway].map((server) => server.stop()));
  const compare = (bench: keyof typeof ways, floor: keyof typeof ways, isJudged: boolean): Finding => {
    const [mine, theirs] = [summed(results[bench]!), summed(results[floor]!)];
    const growth = Math.max(mine.growthMb!, mine.farGrowthMb ?? 0);
    return {
      bench: `${ways[bench].name}, floor ${ways[floor].name}`,
      gateway: mine,
      floor: theirs,
      ratio: mine.mbPerSecond! / theirs.mbPerSecond!,
      goal: isJudged ? `grows by <= ${GROWTH_MB_MAX} MB` : "",
      pass: isJudged ? growth <= GROWTH_MB_MAX : null,
    };
  };
  return [
    compare("copied", "relayedSynced", true),
    compare("copied", "relayed", false),
    compare("copied", "direct", false),
    compare("uploaded", "directSynced", true),
    compare("downloaded", "directSynced", true),
  ];
}

function ours(client: Client, gateway: Server, daemons: Server[], to: string): Record<"copied" | "uploaded" | "downloaded", Way> {
  const kept = "~/large";
  const done = () => {};
  return {
    copied: {
      name: "fs.copy",
      server: gateway,
      ends: daemons,
      async copy(file) {
        const copied = join(to, "copied");
        const place = { from: { target: "from", path: file }, to: { target: "to", path: copied } };
        const answer = await client.call("fs.copy", place);
        if (!answer.ok) throw new Error(`fs.copy: ${answer.error}`);
        rmSync(copied);
      },
    },
    uploaded: {
      name: "upload to the gateway",
      server: gateway,
      ends: [],
      async copy(file) {
        await transfer(client, { depot: here, path: file }, { depot: there(client, "gsv"), path: kept }, done);
      },
    },
    downloaded: {
      name: "download from the gateway",
      server: gateway,
      ends: [],
      async copy() {
        const copied = join(to, "downloaded");
        await transfer(client, { depot: there(client, "gsv"), path: kept }, { depot: here, path: copied }, done);
        rmSync(copied);
      },
    },
  };
}

async function floors(stage: Stage, to: string): Promise<Record<"relayed" | "relayedSynced" | "direct" | "directSynced", Way>> {
  const source = await stage.tcp({ part: "source" });
  const sinks = {
    plain: await stage.tcp({ part: "sink", file: join(to, "plain"), synced: false }),
    synced: await stage.tcp({ part: "sink", file: join(to, "synced"), synced: true }),
  };
  const way = async (how: "plain" | "synced", isRelayed: boolean): Promise<Way> => {
    const sink = sinks[how];
    const server = isRelayed ? await stage.tcp({ part: "relay", to: sink.port }) : sink;
    return {
      name: `TCP ${isRelayed ? "through a relay" : "direct"}${how === "synced" ? ", synced" : ""}`,
      server,
      ends: isRelayed ? [source, sink] : [source],
      copy: (file) => ordered(source, { file, to: server.port }),
    };
  };
  return {
    relayed: await way("plain", true),
    relayedSynced: await way("synced", true),
    direct: await way("plain", false),
    directSynced: await way("synced", false),
  };
}

async function ordered(source: Server, order: Order): Promise<void> {
  const socket = connectTcp(source.port, "127.0.0.1");
  socket.write(JSON.stringify(order));
  await once(socket.resume(), "end");
}

async function measured({ server, ends, copy }: Way, file: string, bytes: number): Promise<Measure> {
  const pids = [server, ...ends].map(({ pid }) => pid);
  const before = pids.map((pid) => ({ kb: rssKb(pid), cpu: cpuMs(pid) }));
  const most = before.map(({ kb }) => kb);
  const look = () => pids.forEach((pid, at) => (most[at] = Math.max(most[at]!, rssKb(pid))));
  const looking = setInterval(look, LOOK_EVERY_MS);
  const startedAt = performance.now();
  await copy(file);
  const ms = performance.now() - startedAt;
  clearInterval(looking);
  look();
  const [growth, ...farGrowth] = most.map((kb, at) => (kb - before[at]!.kb) / 1024);
  const [cpu, ...farCpu] = pids.map((pid, at) => cpuMs(pid) - before[at]!.cpu);
  const ofEnds =
    ends.length === 0 ? {} : { farGrowthMb: Math.max(...farGrowth), farCpuMsPerCall: farCpu.reduce((sum, one) => sum + one, 0) };
  return { mbPerSecond: bytes / MB / (ms / 1000), cpuMsPerCall: cpu!, growthMb: growth!, ...ofEnds };
}

/** Of memory the round in which it grew most: what has grown once grows less the next time. */
function summed(rounds: readonly Measure[]): Measure {
  const result = middle(rounds);
  for (const field of ["growthMb", "farGrowthMb"] as const)
    if (result[field] !== undefined) result[field] = Math.max(...rounds.map((round) => round[field]!));
  return result;
}

/** Different in each round. */
function fill(file: string, bytes: number, round: number): void {
  const piece = Buffer.alloc(MB, `${round} the quick brown fox jumps over the lazy dog `);
  const handle = openSync(file, "w");
  for (let at = 0; at < bytes; at += piece.length) writeSync(handle, piece, 0, Math.min(piece.length, bytes - at));
  closeSync(handle);
}
