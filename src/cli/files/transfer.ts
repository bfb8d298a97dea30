// Copies one file to, from or between targets. An interrupted copy resumes where it stopped: automatically when the connection or
// the device returns, otherwise when the user repeats the command.

import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { CallError, type Client, ConnectionLost } from "../../client/client.ts";
import { MachineFiles } from "../../device/files.ts";
import type { IncomingBody, OutgoingBody } from "../../hardware/body.ts";
import type { FileReceiver } from "../../hardware/filesystem.ts";
import { catchFailures } from "../../hardware/outcome.ts";
import { sleep } from "../../lib/sleep.ts";
import type { CopyEndpoint } from "./copy-endpoint.ts";
import { Problem } from "../terminal/problem.ts";
import { requireOk } from "./remote-file.ts";
import { printNote } from "../terminal/terminal.ts";
import { COPY_PROGRESS } from "../../protocol/signal-names.ts";

export type Side = { endpoint: CopyEndpoint; path: string };
export type Progress = (bytes: number, size: number) => void;

/** How long to wait for a peer that disconnected during a copy. */
const RECONNECT_MS = 60_000;
const RETRY_MS = 1_000;
/** The other end has not noticed yet that the last attempt has ended. */
const IN_PROGRESS = /is on its way to .* already/;

/** The file that was written, as its target names it. */
export type WrittenFile = { path: string; size: number };

export async function transfer(client: Client, from: Side, to: Side, progress: Progress = () => {}): Promise<WrittenFile> {
  let progressAt: number | null = null;
  let isInterrupted = false;
  const onProgress: Progress = (bytes, size) => {
    progressAt = Date.now();
    progress(bytes, size);
  };
  for (;;) {
    try {
      const made = await catchFailures(new MachineFiles(process.cwd()), async () => ({
        ok: true as const,
        ...(await transferOnce(client, from, to, onProgress)),
      }));
      return requireOk(made);
    } catch (error) {
      // A copy that never started fails at once; only an interrupted one is retried.
      const mayRetry = isTransient(error) || (isInterrupted && error instanceof Problem && IN_PROGRESS.test(error.message));
      if (progressAt === null || !mayRetry || Date.now() - progressAt > RECONNECT_MS) throw isInterrupted ? addAdvice(error) : error;
      if (!isInterrupted) printNote(`gsv: ${(error as Error).message}. Waiting to resume the copy`);
      isInterrupted = true;
      await sleep(RETRY_MS, new AbortController().signal);
    }
  }
}

async function transferOnce(client: Client, from: Side, to: Side, progress: Progress): Promise<WrittenFile> {
  if (from.endpoint.target === null) return upload(client, from.path, to, progress);
  if (to.endpoint.target === null) return download(client, from, to.path, progress);
  return copyBetweenTargets(client, from, to, progress);
}

async function upload(client: Client, path: string, to: Side, progress: Progress): Promise<WrittenFile> {
  const files = new MachineFiles(process.cwd());
  const place = files.resolve(path);
  const { size, version, mode, modifiedAt } = await files.stat(place);
  const file = await files.open(place, version);
  const content: OutgoingBody = {
    size,
    version,
    mode: mode & 0o777,
    read(start, end) {
      progress(start, size);
      return file.read(start, end);
    },
  };
  const args = { target: to.endpoint.target!, path: to.path, size, mode: content.mode, tag: makeTag(place, version, modifiedAt) };
  try {
    return requireOk(await client.upload(args, content));
  } finally {
    await file.close();
  }
}

async function download(client: Client, from: Side, path: string, progress: Progress): Promise<WrittenFile> {
  const files = new MachineFiles(process.cwd());
  const place = files.resolve(path);
  // A mistyped path must not create a directory.
  await stat(dirname(place)).catch((error: NodeJS.ErrnoException) => {
    throw new Problem(`Cannot write ${path}: ${error.message}`);
  });
  const receipts: FileReceiver[] = [];
  const target = from.endpoint.target!;
  let sha256: string | null = null;
  try {
    const answer = await client.download({ target, path: from.path }, async ({ size, version, mode }): Promise<IncomingBody> => {
      const tag = version === "" ? undefined : makeTag(target, from.path, version);
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
    const received = requireOk(answer);
    sha256 = received.sha256;
    await receipts[0]?.finish(sha256);
    return { path: place, size: received.size };
  } catch (error) {
    await receipts[0]?.abandon(sha256 !== null || !isTransient(error));
    throw error;
  }
}

async function copyBetweenTargets(client: Client, from: Side, to: Side, progress: Progress): Promise<WrittenFile> {
  const name = makeTag(String(Math.random()));
  const unsubscribe = client.onSignal(({ signal, payload }) => {
    if (signal === COPY_PROGRESS && payload.name === name) progress(payload.bytes, payload.size);
  });
  try {
    const place = ({ endpoint, path }: Side) => ({ target: endpoint.target!, path });
    const copied = requireOk(await client.call("fs.copy", { from: place(from), to: place(to), progress: name }));
    return { path: copied.to, size: copied.size };
  } finally {
    unsubscribe();
  }
}

function makeTag(...parts: readonly (string | number)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** The peer may come back, and the copy can resume. */
function isTransient(error: unknown): boolean {
  return error instanceof ConnectionLost || (error instanceof CallError && (error.code === 503 || error.code === 504));
}

function addAdvice(error: unknown): unknown {
  if (!(error instanceof ConnectionLost) && !(error instanceof CallError)) return error;
  return new Problem(`${error.message}. To resume the copy, run the command again`);
}
