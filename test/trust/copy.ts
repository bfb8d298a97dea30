// trust:copy. Copies a large file from one real device daemon to another through a real gateway with the CLI, and kills a daemon
// in the middle: the copy resumes where it stopped, is equal to the byte, and no process grows. `--mb N` for a larger file. The
// last line is the result.

import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, Connection } from "../../src/client/client.ts";
import { BUILD } from "../support/current-build.ts";
import { ALICE } from "../support/people.ts";
import { Cli, killEverything, residentBytes, type Started } from "../support/processes.ts";
import { Bar, numberFlag } from "./bar.ts";

const MEGABYTE = 1024 * 1024;
const GROWTH_BYTES_MAX = 64 * MEGABYTE;
/** What a daemon writes besides the rest of the file: frames, its ledger, its log. */
const REST_BYTES_MORE = 8 * MEGABYTE;
const size = numberFlag("mb", 192) * MEGABYTE;

const bar = new Bar("trust:copy");
const scratch = mkdtempSync(join(tmpdir(), "gsv-copy-"));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void killEverything().then(() => process.exit(1)));
try {
  await run();
} finally {
  await killEverything();
  rmSync(scratch, { recursive: true, force: true });
}
bar.end();

async function run(): Promise<void> {
  const cli = new Cli(BUILD, join(scratch, "user"));
  const gateway = await cli.startUntil(["up", "--home", join(scratch, "home"), "--port", "0"], /GSV is up at/);
  const url = /GSV is up at (\S+)/.exec(gateway.output())![1]!;
  const connection = await Connection.open(url);
  await connection.call("sys.setup", ALICE);
  connection.close();
  const client = await connect({ url, auth: ALICE });
  const { token: own } = (await client.call("sys.token.create", { kind: "user" })).token;
  const user = (...args: string[]) => cli.run(["--url", url, "--user", ALICE.username, "--token", own, ...args]);

  const workspaces = { lap: join(scratch, "lap"), desk: join(scratch, "desk") };
  const plugIn = async (id: keyof typeof workspaces, shell: string): Promise<() => Promise<Started>> => {
    const { token } = (await client.call("sys.token.create", { kind: "node", allowedDeviceId: id })).token;
    mkdirSync(workspaces[id]);
    const device = new Cli(BUILD, join(scratch, `${id}-home`), { SHELL: shell, GSV_DEVICE_TOKEN: token });
    return () =>
      device.startUntil(
        ["--url", url, "--user", ALICE.username, "device", "run", "--id", id, "--workspace", workspaces[id]],
        /is connected to/,
      );
  };
  const [startLap, startDesk] = [await plugIn("lap", "/bin/sh"), await plugIn("desk", "/bin/bash")];
  const lap = await startLap();
  let desk = await startDesk();

  const where = async (target: string) => (await client.call("shell.exec", { target, input: "pwd; echo $0" })).output;
  bar.check("own workspace and shell", (await where("lap")).startsWith(workspaces.lap), () => "lap runs elsewhere");
  bar.check("own workspace and shell", (await where("desk")) === `${workspaces.desk}\n/bin/bash\n`, () => "desk runs elsewhere");

  write(join(workspaces.lap, "small"), 32 * MEGABYTE);
  for (const name of ["warm", "warm again"]) await user("cp", "lap:small", `desk:${name}`);

  write(join(workspaces.lap, "big"), size);
  const growth = watchMemory({ gateway, lap, desk });
  const copying = user("cp", "lap:big", "desk:big");
  await waitForPart(workspaces.desk, size * 0.4);
  await desk.kill();
  growth.forget("desk");
  const have = partBytes(workspaces.desk);
  const leftAt = performance.now();
  desk = await startDesk();
  growth.follow("desk", desk);
  const { code, err } = await copying;
  growth.end();
  const written = writtenBytes(desk.pid);
  bar.check("copied after an interruption", code === 0, () => err);
  const isRest = written === null || written < size - have + REST_BYTES_MORE;
  bar.check("resumed", have > 0 && have < size && isRest, () => `${have} of ${size} bytes were there, and ${written} were written then`);
  const [from, to] = await Promise.all([hashOf(join(workspaces.lap, "big")), hashOf(join(workspaces.desk, "big"))]);
  bar.check("equal to the byte", from === to, () => `${from} became ${to}`);
  bar.check(
    "nothing left beside",
    readdirSync(workspaces.desk).every((name) => !name.startsWith(".")),
    () => readdirSync(workspaces.desk).join(" "),
  );
  for (const [name, bytes] of Object.entries(growth.most)) {
    bar.check("within its memory", bytes <= GROWTH_BYTES_MAX, () => `${name} grew by ${megabytes(bytes)} MB`);
    bar.numbers[`${name} grew by, MB`] = megabytes(bytes);
  }
  Object.assign(bar.numbers, {
    MB: megabytes(size),
    "MB there when cut": megabytes(have),
    "ms after": Math.round(performance.now() - leftAt),
  });

  for (const [target, path] of [
    ["gsv", "~/big"],
    ["desk", "again"],
  ] as const) {
    const startedAt = performance.now();
    const answer = await client.call("fs.copy", { from: { target: "lap", path: "big" }, to: { target, path } });
    bar.check("copied", answer.ok && answer.sha256 === from, () => JSON.stringify(answer));
    bar.numbers[`MB/s to ${target}`] = Math.round(megabytes(size) / ((performance.now() - startedAt) / 1000));
  }
  client.close();
}

function write(file: string, bytes: number): void {
  const handle = openSync(file, "w");
  const block = randomBytes(MEGABYTE);
  for (let at = 0; at < bytes; at += block.length) {
    block.writeUInt32LE(at >>> 0, 0);
    writeSync(handle, block);
  }
  closeSync(handle);
}

function partBytes(folder: string): number {
  const name = readdirSync(folder).find((one) => one.endsWith(".gsv-part"));
  return name === undefined ? 0 : (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
}

/** All bytes that a process has written, to files and sockets; null on systems without /proc. */
function writtenBytes(pid: number): number | null {
  const file = `/proc/${pid}/io`;
  const bytes = existsSync(file) ? /^wchar: (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1] : undefined;
  return bytes === undefined ? null : Number(bytes);
}

async function waitForPart(folder: string, bytes: number): Promise<void> {
  while (partBytes(folder) < bytes) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}

type MemoryWatch = { most: Record<string, number>; follow(name: string, process: Started): void; forget(name: string): void; end(): void };

/** The most that each process has grown since its first sample. */
function watchMemory(processes: Record<string, Started>): MemoryWatch {
  const first = new Map<string, { pid: number; bytes: number }>();
  const most: Record<string, number> = {};
  // A restarted process is compared to its predecessor, which was measured after it had done some work.
  const before = new Map<string, number>();
  const follow = (name: string, { pid }: Started) => {
    const bytes = before.get(name) ?? residentBytes(pid);
    before.set(name, bytes);
    first.set(name, { pid, bytes });
  };
  for (const [name, process] of Object.entries(processes)) follow(name, process);
  const timer = setInterval(() => {
    for (const [name, { pid, bytes }] of first) most[name] = Math.max(most[name] ?? 0, residentBytes(pid) - bytes);
  }, 20);
  return { most, follow, forget: (name) => void first.delete(name), end: () => clearInterval(timer) };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / MEGABYTE);
}
