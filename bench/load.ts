// The load, in its own process: takes one job at a time over IPC and answers with its measure. It reads the server's CPU time
// itself at both ends of the measured window, so that no message delay falls into it.

import { randomUUID } from "node:crypto";
import { Agent, request as httpRequest } from "node:http";
import { Connection } from "../src/client/connection.ts";
import { cpuMs, cpuMsWithPrograms, diskBytes, rssKb } from "./proc.ts";
import { type Measure, percentile } from "./stats.ts";
import { textOf } from "./text.ts";
import { encode, Wire } from "./wire.ts";

/** `farPid` is the process to which the server forwards the calls. */
export type Target = { port: number; pid: number; farPid?: number; username: string; token: string };
export type Job =
  | {
      do: "pipeline";
      target: Target;
      call: string;
      args: Record<string, unknown>[];
      /** Gives each of them a different text of this many bytes as `content`. */
      contentBytes?: number;
      inFlight: number;
      /** Spreads them over this many sockets; one if it is not set. */
      connections?: number;
      seconds: number;
    }
  /** Adds a schedule and removes it, so many at once; the pair counts as one. */
  | { do: "arm"; target: Target; schedules: Record<string, unknown>[]; inFlight: number; seconds: number }
  | { do: "connect"; target: Target; atOnce: number; seconds: number }
  /** With a device token, `as` devices, which ping as daemons do. */
  | { do: "hold"; target: Target; count: number; atOnce: number; as?: "devices" }
  /** Each from an address of its own, all at once; one that is refused tries again. They are held. */
  | { do: "storm"; target: Target; count: number }
  | { do: "release" }
  /** Sends `message` to each of these processes, again whenever its run has ended. */
  | { do: "turns"; target: Target; pids: string[]; message: string; seconds: number }
  /** Asks one process for an answer of so many pieces, again and again, while this many connections follow it. */
  | { do: "stream"; target: Target; pid: string; pieces: number; followers: number; seconds: number }
  /** Sends these requests in a row to the provider alone, as one turn does. */
  | { do: "provider"; port: number; messages: object[][]; seconds: number };
export type Outcome = { measure: Measure } | { error: string };

export const WARM_UP_MS = 500;
const SIGNAL = Buffer.from('{"type":"sig"');
const SAMPLES_MAX = 1 << 20;
const CONNECTS_MAX = 20_000;
const PING_EVERY_MS = 5_000;
const RETRY_MS = 100;
const TRIES_MAX = 200;
const PREFIX = Buffer.from('{"type":"res","id":"');
const OK = Buffer.from('","ok":true');
const QUOTE = 34;
const DIGIT_ZERO = 48;

let held: Wire[] = [];
let pingTimer: NodeJS.Timeout | undefined;
let connects = 0;

if (import.meta.main) {
  process.on("message", (job: Job) => {
    carryOut(job).then(
      (measure) => process.send!({ measure } satisfies Outcome),
      (error: unknown) => process.send!({ error: String(error) } satisfies Outcome),
    );
  });
  process.on("disconnect", () => process.exit(0));
}

/** How long one connection takes, from this process. */
export async function firstConnectMs(target: Target): Promise<number> {
  const startedAt = performance.now();
  const wire = await enter(target);
  const ms = performance.now() - startedAt;
  await wire.close();
  return ms;
}

function carryOut(job: Job): Promise<Measure> {
  switch (job.do) {
    case "pipeline":
      return pipeline(job);
    case "arm":
      return armOften(job);
    case "connect":
      return connectOften(job);
    case "hold":
      return hold(job);
    case "storm":
      return storm(job);
    case "release":
      return release();
    case "turns":
      return runTurns(job);
    case "stream":
      return streamOften(job);
    case "provider":
      return askProvider(job);
  }
}

/** Keeps `inFlight` requests on its sockets; each answer sends the next. */
async function pipeline(job: Extract<Job, { do: "pipeline" }>): Promise<Measure> {
  const { target, call, contentBytes, inFlight, connections = 1, seconds } = job;
  const wires: Wire[] = [];
  for (let at = 0; at < connections; at++) wires.push(await enter(target));
  const args = contentBytes === undefined ? job.args : job.args.map((each, at) => ({ ...each, content: textOf(at, contentBytes) }));
  // One id per request in flight, and its frames encoded beforehand: one for each of its arguments.
  const frames = Array.from({ length: inFlight }, (_, id) =>
    args.filter((_, at) => at % inFlight === id || args.length < inFlight).map((each) => request(String(id), call, each)),
  );
  const sentCounts = new Uint32Array(inFlight);
  const sentAt = new Float64Array(inFlight);
  const samples = new Float64Array(SAMPLES_MAX);
  const ready: Buffer[][] = wires.map(() => []);
  let calls = 0;
  let running = true;
  const next = (id: number) => {
    const choice = frames[id]!;
    ready[id % connections]!.push(choice[sentCounts[id]!++ % choice.length]!);
    sentAt[id] = performance.now();
  };
  return new Promise((resolve, reject) => {
    const onText: Wire["onText"] = (bytes, start, end) => {
      // sys.changed, for clients that show lists.
      if (bytes.subarray(start, start + SIGNAL.length).equals(SIGNAL)) return;
      const id = idOfOkAnswer(bytes, start, end);
      if (id === -1) return reject(new Error(`Not a good answer: ${bytes.toString("utf8", start, Math.min(end, start + 300))}`));
      if (calls < SAMPLES_MAX) samples[calls] = performance.now() - sentAt[id]!;
      calls++;
      if (running) next(id);
    };
    for (let id = 0; id < inFlight; id++) next(id);
    for (const [at, wire] of wires.entries()) {
      wire.onClose = () => reject(new Error("The server closed the socket"));
      wire.onText = onText;
      wire.onDrained = () => {
        if (ready[at]!.length > 0) wire.send(...ready[at]!);
        ready[at] = [];
      };
      wire.onDrained();
    }
    setTimeout(() => {
      calls = 0;
      const window = measureFrom(target);
      setTimeout(() => {
        running = false;
        resolve({ ...window(calls), ...latencies(samples.subarray(0, Math.min(calls, SAMPLES_MAX))) });
        for (const wire of wires) void wire.close();
      }, seconds * 1000);
    }, WARM_UP_MS);
  });
}

async function armOften({ target, schedules, inFlight, seconds }: Extract<Job, { do: "arm" }>): Promise<Measure> {
  const connection = await openConnection(target);
  const samples: number[] = [];
  let next = 0;
  const until = async (moment: number) => {
    while (performance.now() < moment) {
      const startedAt = performance.now();
      const { schedule } = (await connection.call("sched.add", schedules[next++ % schedules.length] as never)) as {
        schedule: { id: string };
      };
      await connection.call("sched.remove", { id: schedule.id });
      samples.push(performance.now() - startedAt);
    }
  };
  const all = (ms: number) => {
    const moment = performance.now() + ms;
    return Promise.all(Array.from({ length: inFlight }, () => until(moment)));
  };
  await all(WARM_UP_MS);
  samples.length = 0;
  const window = measureFrom(target);
  await all(seconds * 1000);
  const measure = { ...window(samples.length), ...latencies(samples) };
  connection.close();
  return measure;
}

/** Opens a socket, authenticates and closes it, again and again, with `atOnce` of them in parallel. */
async function connectOften({ target, atOnce, seconds }: Extract<Job, { do: "connect" }>): Promise<Measure> {
  const samples: number[] = [];
  const until = async (moment: number) => {
    while (performance.now() < moment && samples.length < CONNECTS_MAX) {
      const startedAt = performance.now();
      const wire = await enter(target);
      samples.push(performance.now() - startedAt);
      await wire.close();
    }
  };
  const all = (ms: number) => {
    const moment = performance.now() + ms;
    return Promise.all(Array.from({ length: atOnce }, () => until(moment)));
  };
  await all(WARM_UP_MS);
  samples.length = 0;
  const window = measureFrom(target);
  await all(seconds * 1000);
  return { ...window(samples.length), ...latencies(samples) };
}

/** Opens authenticated sockets and keeps them, a few at a time to stay below the gateway's limit of strangers per address. */
async function hold({ target, count, atOnce, as }: Extract<Job, { do: "hold" }>): Promise<Measure> {
  const one = (at: number) => enter(target, as === undefined ? undefined : `idle-${at}`);
  while (held.length < count) {
    const first = held.length;
    held.push(...(await Promise.all(Array.from({ length: Math.min(atOnce, count - first) }, (_, at) => one(first + at)))));
  }
  for (const wire of held) wire.onClose = () => lost++;
  const ping = encode("ping");
  if (as !== undefined) pingTimer = setInterval(() => held.forEach((wire) => wire.send(ping)), PING_EVERY_MS);
  return {};
}

async function storm({ target, count }: Extract<Job, { do: "storm" }>): Promise<Measure> {
  const enterSomeTime = async (from: string): Promise<Wire> => {
    for (let tries = 1; ; tries++) {
      try {
        return await enter(target, undefined, from);
      } catch (error) {
        if (tries === TRIES_MAX) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  };
  const addresses = Array.from({ length: count }, (_, at) => `127.1.${at >> 7}.${1 + (at & 127)}`);
  held.push(...(await Promise.all(addresses.map(enterSomeTime))));
  for (const wire of held) wire.onClose = () => lost++;
  return {};
}

let lost = 0;

async function release(): Promise<Measure> {
  clearInterval(pingTimer);
  if (lost > 0) throw new Error(`The server closed ${lost} of ${held.length} idle sockets`);
  await Promise.all(held.map((wire) => wire.close()));
  held = [];
  return {};
}

async function runTurns({ target, pids, message, seconds }: Extract<Job, { do: "turns" }>): Promise<Measure> {
  const connection = await openConnection(target);
  const samples: number[] = [];
  const firstWords: number[] = [];
  const sentAt = new Map<string, number>();
  /** Processes whose first words are awaited. */
  const silent = new Set<string>();
  let isOver = false;
  const say = async (pid: string) => {
    sentAt.set(pid, performance.now());
    silent.add(pid);
    await connection.call("proc.send", { pid, message, runId: randomUUID() });
  };
  return new Promise((resolve, reject) => {
    connection.onSignal = ({ signal, payload }) => {
      if (signal === "proc.run.stream") {
        const { pid, event } = payload as { pid: string; event: { type: string } };
        if (event.type === "text_delta" && silent.delete(pid)) firstWords.push(performance.now() - sentAt.get(pid)!);
      }
      if (signal !== "proc.run.finished") return;
      const { pid, status, error } = payload as { pid: string; status: string; error?: string };
      if (status !== "ok") return reject(new Error(`A run ended as ${status}: ${error}`));
      samples.push(performance.now() - sentAt.get(pid)!);
      if (!isOver) say(pid).catch(reject);
    };
    for (const pid of pids) say(pid).catch(reject);
    setTimeout(() => {
      samples.length = firstWords.length = 0;
      const window = measureFrom(target);
      setTimeout(() => {
        isOver = true;
        resolve({ ...window(samples.length), ...latencies(samples), firstP50Ms: percentile(firstWords, 0.5) });
        // Runs in progress end before the next job.
        setTimeout(() => connection.close(), WARM_UP_MS);
      }, seconds * 1000);
    }, WARM_UP_MS);
  });
}

/** Counts each piece once, however many receive it; a message of several pieces counts as several. */
async function streamOften({ target, pid, pieces, followers, seconds }: Extract<Job, { do: "stream" }>): Promise<Measure> {
  const wires: Wire[] = [];
  for (let at = 0; at < followers; at++) {
    const wire = await enter(target);
    wire.onText = () => {};
    wire.send(request("1", "proc.subscribe", { pid }));
    wires.push(wire);
  }
  const [first] = wires;
  let runs = 0;
  const text = (bytes: Buffer, start: number, end: number) => bytes.toString("latin1", start, Math.min(end, start + 60));
  const untilFinished = () =>
    new Promise<void>((resolve, reject) => {
      first!.onClose = () => reject(new Error("The server closed the socket"));
      first!.onText = (bytes, start, end) => text(bytes, start, end).includes('"proc.run.finished"') && resolve();
      first!.send(request("2", "proc.send", { pid, message: `stream ${pieces}`, runId: randomUUID() }));
    });
  const until = async (moment: number) => {
    for (; performance.now() < moment; runs++) await untilFinished();
  };
  await until(performance.now() + WARM_UP_MS);
  runs = 0;
  const window = measureFrom(target);
  await until(performance.now() + seconds * 1000);
  const measure = window(runs * pieces);
  await Promise.all(wires.map((wire) => wire.close()));
  return measure;
}

async function askProvider({ port, messages, seconds }: Extract<Job, { do: "provider" }>): Promise<Measure> {
  const agent = new Agent({ keepAlive: true });
  const firstWords: number[] = [];
  const ask = (body: string) =>
    new Promise<void>((resolve, reject) => {
      const startedAt = performance.now();
      const options = { agent, port, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST" };
      const request = httpRequest(options, (response) => {
        response.once("data", () => firstWords.push(performance.now() - startedAt));
        response.resume().on("end", resolve);
      });
      request.on("error", reject).end(body);
    });
  const bodies = messages.map((each) => JSON.stringify({ model: "direct", stream: true, messages: each }));
  const samples: number[] = [];
  for (const until = performance.now() + seconds * 1000; performance.now() < until;) {
    const startedAt = performance.now();
    for (const body of bodies) await ask(body);
    samples.push(performance.now() - startedAt);
  }
  agent.destroy();
  return { ...latencies(samples), firstP50Ms: percentile(firstWords, 0.5) };
}

async function openConnection({ port, username, token }: Target): Promise<Connection> {
  const connection = await Connection.open(`http://127.0.0.1:${port}`);
  const client = { id: `bench-${process.pid}-${connects++}`, version: "0", platform: "bench", role: "user" as const };
  await connection.call("sys.connect", { protocol: 1, client, auth: { username, token } });
  return connection;
}

async function enter({ port, username, token }: Target, deviceId?: string, from?: string): Promise<Wire> {
  const wire = await Wire.open(port, from);
  const who =
    deviceId === undefined
      ? { client: { id: `bench-${process.pid}-${connects++}`, version: "0", platform: "bench", role: "user" } }
      : { client: { id: deviceId, version: "0", platform: "bench", role: "driver" }, driver: { implements: ["fs.*"] } };
  return new Promise((resolve, reject) => {
    wire.onClose = () => reject(new Error("The server closed the socket before it answered sys.connect"));
    wire.onText = (bytes, start, end) => {
      if (idOfOkAnswer(bytes, start, end) !== 0) reject(new Error(`Not let in: ${bytes.toString("utf8", start, end)}`));
      wire.onClose = () => {};
      wire.onText = () => {};
      resolve(wire);
    };
    wire.send(request("0", "sys.connect", { protocol: 1, ...who, auth: { username, token } }));
  });
}

function request(id: string, call: string, args: Record<string, unknown>): Buffer {
  return encode(JSON.stringify({ type: "req", id, call, args }));
}

/** The id of an answer with ok, or -1. Ids are small numbers and both servers write their fields in this order. */
function idOfOkAnswer(bytes: Buffer, start: number, end: number): number {
  if (bytes.compare(PREFIX, 0, PREFIX.length, start, start + PREFIX.length) !== 0) return -1;
  let at = start + PREFIX.length;
  let id = 0;
  for (; at < end && bytes[at] !== QUOTE; at++) id = id * 10 + bytes[at]! - DIGIT_ZERO;
  return bytes.compare(OK, 0, OK.length, at, at + OK.length) === 0 ? id : -1;
}

function measureFrom({ pid, farPid }: Target): (calls: number) => Measure {
  const cpuBefore = cpuMs(pid);
  const farBefore = farPid === undefined ? 0 : cpuMsWithPrograms(farPid);
  const ownBefore = process.cpuUsage();
  const diskBefore = diskBytes(pid);
  const startedAt = performance.now();
  return (calls) => {
    const ms = performance.now() - startedAt;
    const own = process.cpuUsage(ownBefore);
    return {
      perSecond: (calls * 1000) / ms,
      cpuMsPerCall: (cpuMs(pid) - cpuBefore) / calls,
      ...(farPid === undefined ? {} : { farCpuMsPerCall: (cpuMsWithPrograms(farPid) - farBefore) / calls }),
      rssMb: rssKb(pid) / 1024,
      diskBytesPerCall: (diskBytes(pid) - diskBefore) / calls,
      serverBusy: (cpuMs(pid) - cpuBefore) / ms,
      loadBusy: (own.user + own.system) / 1000 / ms,
    };
  };
}

function latencies(samples: Float64Array | number[]): Measure {
  return { p50Ms: percentile(samples, 0.5), p99Ms: percentile(samples, 0.99) };
}
