// One file from one place to another, whichever of the two is this machine. What was cut off goes on where it stopped:
// by itself when the connection or the device comes back, else when the same copy is asked for again.

import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { CallError, type Client, ConnectionLost } from "../../client/client.ts";
import { MachineFiles } from "../../device/files.ts";
import type { Incoming, Outgoing } from "../../hardware/body.ts";
import type { Receipt } from "../../hardware/filesystem.ts";
import { outcome } from "../../hardware/outcome.ts";
import { sleep } from "../../lib/sleep.ts";
import type { CopyEndpoint } from "./copy-endpoint.ts";
import { Problem } from "../terminal/problem.ts";
import { mustBeOk } from "./remote-file.ts";
import { note } from "../terminal/terminal.ts";
import { COPY_PROGRESS } from "../../protocol/signal-names.ts";

export type Side = { depot: CopyEndpoint; path: string };
export type Progress = (bytes: number, size: number) => void;

/** How long it is waited for whoever went away in the middle. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 1_000;
/** The other end has not noticed yet that the last try is over. */
const ON_ITS_WAY = /is on its way to .* already/;

/** What was made, as its target names it. */
export type Made = { path: string; size: number };

export async function transfer(client: Client, from: Side, to: Side, progress: Progress = () => {}): Promise<Made> {
  let movedAt: number | null = null;
  let isCut = false;
  const moved: Progress = (bytes, size) => {
    movedAt = Date.now();
    progress(bytes, size);
  };
  for (;;) {
    try {
      const made = await outcome(new MachineFiles(process.cwd()), async () => ({
        ok: true as const,
        ...(await once(client, from, to, moved)),
      }));
      return mustBeOk(made);
    } catch (error) {
      // What never began to flow is refused; only what was cut off is waited for.
      const isWorthWaiting = isPassing(error) || (isCut && error instanceof Problem && ON_ITS_WAY.test(error.message));
      if (movedAt === null || !isWorthWaiting || Date.now() - movedAt > PATIENCE_MS) throw isCut ? withAdvice(error) : error;
      if (!isCut) note(`gsv: ${(error as Error).message}. Waiting for it to come back, to go on where it stopped`);
      isCut = true;
      await sleep(PAUSE_MS, new AbortController().signal);
    }
  }
}

async function once(client: Client, from: Side, to: Side, progress: Progress): Promise<Made> {
  if (from.depot.target === null) return upload(client, from.path, to, progress);
  if (to.depot.target === null) return download(client, from, to.path, progress);
  return copy(client, from, to, progress);
}

async function upload(client: Client, path: string, to: Side, progress: Progress): Promise<Made> {
  const files = new MachineFiles(process.cwd());
  const place = files.resolve(path);
  const { size, version, mode, modifiedAt } = await files.stat(place);
  const opened = await files.open(place, version);
  const content: Outgoing = {
    size,
    version,
    mode: mode & 0o777,
    read(start, end) {
      progress(start, size);
      return opened.read(start, end);
    },
  };
  const args = { target: to.depot.target!, path: to.path, size, mode: content.mode, tag: tagOf(place, version, modifiedAt) };
  try {
    return mustBeOk(await client.upload(args, content));
  } finally {
    await opened.close();
  }
}

async function download(client: Client, from: Side, path: string, progress: Progress): Promise<Made> {
  const files = new MachineFiles(process.cwd());
  const place = files.resolve(path);
  // A name mistyped is not a directory made.
  await stat(dirname(place)).catch((error: NodeJS.ErrnoException) => {
    throw new Problem(`Cannot write ${path}: ${error.message}`);
  });
  const receipts: Receipt[] = [];
  const target = from.depot.target!;
  let sha256: string | null = null;
  try {
    const answer = await client.download({ target, path: from.path }, async ({ size, version, mode }): Promise<Incoming> => {
      const tag = version === "" ? undefined : tagOf(target, from.path, version);
      const receipt = await files.receive(place, { size, tag, mode });
      receipts.push(receipt);
      let at = receipt.have;
      return {
        have: receipt.have,
        read: (start, end) => receipt.read(start, end),
        write(chunk) {
          at += chunk.length;
          progress(at, size);
          return receipt.write(chunk);
        },
      };
    });
    const whole = mustBeOk(answer);
    sha256 = whole.sha256;
    await receipts[0]?.finish(sha256);
    return { path: place, size: whole.size };
  } catch (error) {
    await receipts[0]?.leave(sha256 !== null || !isPassing(error));
    throw error;
  }
}

async function copy(client: Client, from: Side, to: Side, progress: Progress): Promise<Made> {
  const name = tagOf(String(Math.random()));
  const stop = client.onSignal(({ signal, payload }) => {
    if (signal === COPY_PROGRESS && payload.name === name) progress(payload.bytes, payload.size);
  });
  try {
    const place = ({ depot, path }: Side) => ({ target: depot.target!, path });
    const copied = mustBeOk(await client.call("fs.copy", { from: place(from), to: place(to), progress: name }));
    return { path: copied.to, size: copied.size };
  } finally {
    stop();
  }
}

function tagOf(...parts: readonly (string | number)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** Somebody may come back and it can go on. */
function isPassing(error: unknown): boolean {
  return error instanceof ConnectionLost || (error instanceof CallError && (error.code === 503 || error.code === 504));
}

function withAdvice(error: unknown): unknown {
  if (!(error instanceof ConnectionLost) && !(error instanceof CallError)) return error;
  return new Problem(`${error.message}. Copy it again, and it goes on where it stopped`);
}
