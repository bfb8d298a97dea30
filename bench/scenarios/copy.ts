// Copies one large file from device to device through the gateway, and between this process and the gateway's own files, compared
// to the same bytes over plain TCP through as many processes. The gateway's copy is hashed at both ends and on disk when it is
// answered, so the floor syncs too; its figure without syncing is for information.

import { once } from "node:events";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import type { Server } from "../children.ts";
import { localEndpoint, makeTargetEndpoint } from "../../src/cli/files/copy-endpoint.ts";
import { loadSocketConstructor } from "../../src/cli/session/socket.ts";
import { transfer } from "../../src/cli/files/transfer.ts";
import { type Client, connect } from "../../src/client/client.ts";
import { makeHasher } from "../../src/hosts/shared/crypto.ts";
import { cpuMs, rssKb } from "../proc.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { type Measure, middle } from "../stats.ts";
import type { Order } from "../tcp.ts";

const WARM_UP_BYTES = 1024 * 1024;
const SAMPLE_EVERY_MS = 50;
const GROWTH_MB_MAX = 64;
const MB = 1_000_000;

/** `server` is the process in the middle, or at one end. */
type Route = { name: string; server: Server; ends: Server[]; copy: (file: string) => Promise<void> };

export async function copy(stage: Stage): Promise<Finding[]> {
  const bytes = stage.options.megabytes * MB;
  const gateway = await stage.gateway();
  const [from, to] = [stage.children.folder(), stage.children.folder()];
  const daemons = [await stage.device(gateway, "from", from), await stage.device(gateway, "to", to)];
  const client = await connect({
    url: `http://127.0.0.1:${gateway.port}`,
    auth: { username: stage.account.username, token: stage.account.token },
    newHash: makeHasher,
    WebSocket: await loadSocketConstructor(),
  });
  const routes = { ...gatewayRoutes(client, gateway, daemons, to), ...(await floorRoutes(stage, to)) };
  const file = join(from, "large");
  const results = Object.fromEntries(Object.keys(routes).map((name) => [name, [] as Measure[]]));
  for (let round = 0; round < stage.options.rounds; round++) {
    for (const [name, route] of Object.entries(routes)) {
      // New content each time: the gateway stores equal content only once.
      if (round === 0) {
        fill(file, WARM_UP_BYTES, 0);
        await route.copy(file);
      }
      fill(file, bytes, round);
      results[name]!.push(await measureCopy(route, file, bytes));
    }
  }
  client.close();
  const all = new Set(Object.values(routes).flatMap(({ server, ends }) => [server, ...ends]));
  await Promise.all([...all, gateway].map((server) => server.stop()));
  const compare = (bench: keyof typeof routes, floor: keyof typeof routes, isJudged: boolean): Finding => {
    const [mine, theirs] = [summarize(results[bench]!), summarize(results[floor]!)];
    const growth = Math.max(mine.growthMb!, mine.farGrowthMb ?? 0);
    return {
      bench: `${routes[bench].name}, floor ${routes[floor].name}`,
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

function gatewayRoutes(
  client: Client,
  gateway: Server,
  daemons: Server[],
  to: string,
): Record<"copied" | "uploaded" | "downloaded", Route> {
  const gatewayPath = "~/large";
  const ignoreProgress = () => {};
  return {
    copied: {
      name: "fs.copy",
      server: gateway,
      ends: daemons,
      async copy(file) {
        const copied = join(to, "copied");
        const paths = { from: { target: "from", path: file }, to: { target: "to", path: copied } };
        const answer = await client.call("fs.copy", paths);
        if (!answer.ok) throw new Error(`fs.copy: ${answer.error}`);
        rmSync(copied);
      },
    },
    uploaded: {
      name: "upload to the gateway",
      server: gateway,
      ends: [],
      async copy(file) {
        await transfer(
          client,
          { endpoint: localEndpoint, path: file },
          { endpoint: makeTargetEndpoint(client, "gsv"), path: gatewayPath },
          ignoreProgress,
        );
      },
    },
    downloaded: {
      name: "download from the gateway",
      server: gateway,
      ends: [],
      async copy() {
        const copied = join(to, "downloaded");
        await transfer(
          client,
          { endpoint: makeTargetEndpoint(client, "gsv"), path: gatewayPath },
          { endpoint: localEndpoint, path: copied },
          ignoreProgress,
        );
        rmSync(copied);
      },
    },
  };
}

async function floorRoutes(stage: Stage, to: string): Promise<Record<"relayed" | "relayedSynced" | "direct" | "directSynced", Route>> {
  const source = await stage.tcp({ part: "source" });
  const sinks = {
    plain: await stage.tcp({ part: "sink", file: join(to, "plain"), synced: false }),
    synced: await stage.tcp({ part: "sink", file: join(to, "synced"), synced: true }),
  };
  const makeRoute = async (how: "plain" | "synced", isRelayed: boolean): Promise<Route> => {
    const sink = sinks[how];
    const server = isRelayed ? await stage.tcp({ part: "relay", to: sink.port }) : sink;
    return {
      name: `TCP ${isRelayed ? "through a relay" : "direct"}${how === "synced" ? ", synced" : ""}`,
      server,
      ends: isRelayed ? [source, sink] : [source],
      copy: (file) => sendOrder(source, { file, to: server.port }),
    };
  };
  return {
    relayed: await makeRoute("plain", true),
    relayedSynced: await makeRoute("synced", true),
    direct: await makeRoute("plain", false),
    directSynced: await makeRoute("synced", false),
  };
}

async function sendOrder(source: Server, order: Order): Promise<void> {
  const socket = connectTcp(source.port, "127.0.0.1");
  socket.write(JSON.stringify(order));
  await once(socket.resume(), "end");
}

async function measureCopy({ server, ends, copy }: Route, file: string, bytes: number): Promise<Measure> {
  const pids = [server, ...ends].map(({ pid }) => pid);
  const before = pids.map((pid) => ({ kb: rssKb(pid), cpu: cpuMs(pid) }));
  const most = before.map(({ kb }) => kb);
  const sample = () => pids.forEach((pid, at) => (most[at] = Math.max(most[at]!, rssKb(pid))));
  const sampling = setInterval(sample, SAMPLE_EVERY_MS);
  const startedAt = performance.now();
  await copy(file);
  const ms = performance.now() - startedAt;
  clearInterval(sampling);
  sample();
  const [growth, ...farGrowth] = most.map((kb, at) => (kb - before[at]!.kb) / 1024);
  const [cpu, ...farCpu] = pids.map((pid, at) => cpuMs(pid) - before[at]!.cpu);
  const ofEnds =
    ends.length === 0 ? {} : { farGrowthMb: Math.max(...farGrowth), farCpuMsPerCall: farCpu.reduce((sum, one) => sum + one, 0) };
  return { mbPerSecond: bytes / MB / (ms / 1000), cpuMsPerCall: cpu!, growthMb: growth!, ...ofEnds };
}

/** Medians, but for memory the round in which it grew most: memory that has grown once grows less the next time. */
function summarize(rounds: readonly Measure[]): Measure {
  const result = middle(rounds);
  for (const field of ["growthMb", "farGrowthMb"] as const)
    if (result[field] !== undefined) result[field] = Math.max(...rounds.map((round) => round[field]!));
  return result;
}

/** The content differs in each round. */
function fill(file: string, bytes: number, round: number): void {
  const piece = Buffer.alloc(MB, `${round} the quick brown fox jumps over the lazy dog `);
  const handle = openSync(file, "w");
  for (let at = 0; at < bytes; at += piece.length) writeSync(handle, piece, 0, Math.min(piece.length, bytes - at));
  closeSync(handle);
}
