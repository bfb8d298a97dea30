// What one user does at full speed to overload the gateway, each for as long as it is told to. None of it is forbidden; all of it
// costs far more than it takes to send.

import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { Connection } from "../../../src/client/client.ts";
import { CallError } from "../../../src/client/connection.ts";

export type Target = { url: string; username: string; password: string; token: string };

/** Outcomes of the requests: `slowestMs` is of those that succeeded, `joined` counts merged pieces of answers. */
export type Tally = { answered: number; joined: number; failed: number; refused: number; cut: number; slowestMs: number; errors: string[] };

export type Attack = {
  name: string;
  /** Skipped by default, because it takes long to prepare or is similar to another. */
  isExtra?: true;
  /** It repeats one expensive call, whose rate is limited. */
  isExpensive?: true;
  /** Runs once, before anything is measured. */
  prepare?(line: Connection, target: Target): Promise<void>;
  run(attacking: Attacking): Promise<void>;
  /** Ends work that would outlive the attacker. */
  end?(line: Connection): Promise<void>;
};

export type Attacking = { target: Target; line: Connection; until: AbortSignal; tally: Tally };

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const ERRORS_KEPT = 3;

export async function open({ url, username, token }: Target, id: string): Promise<Connection> {
  const line = await Connection.open(url);
  const client = { id: `${id}-${process.pid}`, version: "0", platform: "test", role: "user" as const };
  await line.call("sys.connect", { protocol: 1, client, auth: { username, token } });
  return line;
}

export const ATTACKS: readonly Attack[] = [
  {
    name: "commands that are hard to read",
    isExpensive: true,
    run: (attacking) =>
      flood(attacking, 20, "proc.approval.preview", () => ({ call: "shell.exec", args: { input: "[".repeat(32 * KIBIBYTE) } })),
  },
  {
    name: "searches",
    isExpensive: true,
    async prepare(line) {
      const text = "nothing of what is looked for is in this line\n".repeat(1_200);
      await inSteps(300, 50, (at) => line.call("fs.write", { path: `~/many/${at % 50}/${at}.txt`, content: `${at} ${text}` }));
    },
    run: (attacking) => flood(attacking, 100, "fs.search", () => ({ path: "~", query: "(a+b?)+never" })),
    end: async (line) => void (await line.call("fs.delete", { path: "~/many" })),
  },
  {
    name: "pushes of packs that inflate",
    isExtra: true,
    prepare: async (line) => void (await line.call("repo.create", { repo: "mallory/large" })),
    run: (attacking) => push(attacking, 8),
  },
  {
    name: "followers of a process that talks",
    prepare: (line, target) => follow(line, target, 150),
    run: talk,
  },
  {
    name: "long histories",
    async prepare(line) {
      const { pid } = await line.call("proc.spawn", { profile: "task", label: "historian" });
      for (let at = 0; at < 10; at++) {
        const runEnd = waitForRun(line, pid);
        await line.call("proc.send", { pid, message: `${at} ${"words of a long message ".repeat(10_000)}` });
        await runEnd;
      }
    },
    async run(attacking) {
      const { pid } = (await processOf(attacking.line, "historian"))!;
      await flood(attacking, 80, "proc.history", () => ({ pid }));
    },
  },
  {
    name: "frames as large as they may be",
    isExtra: true,
    run: (attacking) => flood(attacking, 4, "sys.info", () => ({ more: largeArguments() })),
  },
  {
    name: "large settings",
    async prepare(line) {
      for (let at = 0; at < 3; at++)
        await line.call("sys.config.set", { key: `users/${await uidOf(line)}/ai/large${at}`, value: "v".repeat(MEBIBYTE - KIBIBYTE) });
    },
    run: (attacking) => flood(attacking, 20, "sys.config.get", () => ({})),
    async end(line) {
      for (let at = 0; at < 3; at++) await line.call("sys.config.set", { key: `users/${await uidOf(line)}/ai/large${at}`, value: "" });
    },
  },
  {
    name: "logins",
    isExtra: true,
    run: (attacking) => repeat(attacking, 10, () => login(attacking.target)),
  },
  {
    name: "agents that never rest",
    isExtra: true,
    async prepare(line) {
      await inSteps(20, 4, (at) => line.call("proc.spawn", { profile: "task", label: `restless ${at}` }));
      await line.call("fs.write", { path: "~/f", content: "a small file\n" });
    },
    async run({ line, tally, until }) {
      line.onSignal = ({ signal }) => void (signal === "proc.run.tool.finished" && tally.answered++);
      const restless = (await line.call("proc.list", {})).processes.filter(({ label }) => label?.startsWith("restless"));
      await Promise.all(restless.map(({ pid }) => line.call("proc.send", { pid, message: "work without end" })));
      await new Promise((resolve) => until.addEventListener("abort", resolve, { once: true }));
    },
    end: (line) => endAll(line, "restless"),
  },
  {
    name: "children",
    isExpensive: true,
    run: (attacking) => flood(attacking, 100, "proc.spawn", (at) => ({ profile: "task", label: `child ${at}`, prompt: "hello" })),
    end: (line) => endAll(line, "child"),
  },
  {
    name: "writes",
    isExtra: true,
    run: (attacking) =>
      flood(attacking, 200, "fs.write", (at) => ({ path: `~/written/${at % 500}`, content: `${at} ${"w".repeat(60 * KIBIBYTE)}` })),
    end: async (line) => void (await line.call("fs.delete", { path: "~/written" })),
  },
  {
    name: "searches of a repository",
    isExtra: true,
    async prepare(line) {
      await line.call("repo.create", { repo: "mallory/wide" });
      const content = "a line of a file in a repository\n".repeat(300);
      const ops = Array.from({ length: 500 }, (_, at) => ({
        type: "put" as const,
        path: `d${at % 20}/f${at}`,
        content: `${at}\n${content}`,
      }));
      await line.call("repo.apply", { repo: "mallory/wide", message: "many", ops });
    },
    run: (attacking) => flood(attacking, 60, "repo.search", () => ({ repo: "mallory/wide", query: "never there" })),
  },
  // Last, because some of these commands run on for a while.
  {
    name: "commands that compute",
    isExtra: true,
    run: (attacking) =>
      flood(attacking, 24, "shell.exec", (at) => ({
        input:
          at % 2 === 0 ? "for ((i = 0; i < 100000; i++)); do x=$((i * i)); done" : "find / -name '*.txt' | sort | wc -l; grep -r never ~",
      })),
  },
];

/** Keeps `atOnce` calls in flight. A refused call is repeated at once. */
function flood(attacking: Attacking, atOnce: number, call: string, args: (at: number) => Record<string, unknown>): Promise<void> {
  let at = 0;
  return repeat(attacking, atOnce, () => attacking.line.call(call, args(at++)));
}

async function repeat({ until, tally }: Attacking, atOnce: number, ask: () => Promise<unknown>): Promise<void> {
  const one = async () => {
    while (!until.aborted) {
      const startedAt = performance.now();
      try {
        await ask();
        tally.answered++;
        tally.slowestMs = Math.max(tally.slowestMs, performance.now() - startedAt);
      } catch (error) {
        count(tally, error);
        // A lost connection is not opened again: the loss itself is counted.
        if (!(error instanceof CallError)) return;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

function count(tally: Tally, error: unknown): void {
  const isRefusal = error instanceof CallError && error.code === 429;
  if (isRefusal) tally.refused++;
  else if (error instanceof CallError) tally.failed++;
  else tally.cut++;
  if (!isRefusal && tally.errors.length < ERRORS_KEPT) tally.errors.push(String(error));
}

async function inSteps(total: number, atOnce: number, work: (at: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < total; from += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, total - from) }, (_, at) => work(from + at)));
}

async function processOf(line: Connection, label: string): Promise<{ pid: string } | undefined> {
  return (await line.call("proc.list", {})).processes.find((process) => process.label === label);
}

async function endAll(line: Connection, label: string): Promise<void> {
  const { processes } = await line.call("proc.list", {});
  for (const { pid } of processes.filter((process) => process.label?.startsWith(label))) await line.call("proc.kill", { pid });
}

async function uidOf(line: Connection): Promise<number> {
  return (await line.call("proc.list", {})).processes[0]!.uid;
}

function waitForRun(line: Connection, pid: string): Promise<void> {
  return new Promise((resolve) => {
    line.onSignal = ({ signal, payload }) => {
      if (signal === "proc.run.finished" && (payload as { pid: string }).pid === pid) resolve();
    };
  });
}

/** As many separators and bytes as a frame may have. */
function largeArguments(): unknown {
  const text = "x".repeat(280);
  return Array.from({ length: 49_000 }, () => text);
}

async function login({ url, username, password }: Target): Promise<void> {
  const line = await Connection.open(url);
  const client = { id: `login-${Math.random()}`, version: "0", platform: "test", role: "user" as const };
  try {
    await line.call("sys.connect", { protocol: 1, client, auth: { username, password } });
  } finally {
    line.close();
  }
}

const followers: Connection[] = [];

async function follow(line: Connection, target: Target, connections: number): Promise<void> {
  const { pid } = await line.call("proc.spawn", { profile: "task", label: "talker" });
  await inSteps(connections, 8, async (at) => {
    const follower = await open(target, `follower-${at}`);
    followers.push(follower);
    await follower.call("proc.subscribe", { pid });
  });
}

async function talk({ line, until, tally }: Attacking): Promise<void> {
  const { pid } = (await processOf(line, "talker"))!;
  for (const follower of followers)
    follower.onSignal = ({ payload }) => {
      tally.answered++;
      if ((payload as { firstSeq?: number }).firstSeq !== undefined) tally.joined++;
    };
  while (!until.aborted) {
    const runEnd = waitForRun(line, pid);
    await line.call("proc.send", { pid, message: "talk for long" });
    await Promise.race([runEnd, new Promise((resolve) => until.addEventListener("abort", resolve, { once: true }))]);
  }
}

/** Pushes a pack that is small on the network and large in memory, again and again. */
async function push({ target, until, tally }: Attacking, atOnce: number): Promise<void> {
  const objects = Array.from({ length: 4 }, (_, at) => {
    const content = Buffer.alloc(4 * MEBIBYTE);
    content.write(`object ${at}`);
    return content;
  });
  const pack = packOf(objects);
  const oid = createHash("sha1").update(`blob ${objects[0]!.length}\0`).update(objects[0]!).digest("hex");
  const authorization = `Basic ${Buffer.from(`${target.username}:${target.token}`).toString("base64")}`;
  const one = async (number: number) => {
    while (!until.aborted) {
      const command = `${"0".repeat(40)} ${oid} refs/tags/t${number}\0report-status\n`;
      const body = Buffer.concat([Buffer.from((command.length + 4).toString(16).padStart(4, "0") + command + "0000"), pack]);
      const headers = { authorization, "content-type": "application/x-git-receive-pack-request" };
      try {
        const response = await fetch(`${target.url}/git/mallory/large/git-receive-pack`, { method: "POST", headers, body });
        await response.arrayBuffer();
        if (response.status === 429) tally.refused++;
        else tally.answered++;
      } catch (error) {
        count(tally, error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, number) => one(number)));
}

function packOf(blobs: readonly Buffer[]): Buffer {
  const header = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  header.writeUInt32BE(blobs.length, 8);
  const pack = Buffer.concat([header, ...blobs.flatMap((blob) => [sizeOf(blob.length), deflateSync(blob)])]);
  return Buffer.concat([pack, createHash("sha1").update(pack).digest()]);
}

/** A blob's type and its length, as a pack encodes them. */
function sizeOf(length: number): Buffer {
  const bytes = [(3 << 4) | (length & 15)];
  for (let rest = length >>> 4; rest > 0; rest >>>= 7) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(rest & 0x7f);
  }
  return Buffer.from(bytes);
}
