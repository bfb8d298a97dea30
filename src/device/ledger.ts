// Records the calls with a key that this device has received, so that a repeated call never runs twice. One line is written
// before a call runs and another after it. The file survives a kill of the daemon at any moment, but not a power loss: that would
// cost a sync of the disk per call. A call that was started before a restart and has no end is answered honestly: its outcome is
// unknown.
//
// A key is remembered for a day, like the gateway's own. Results are many and large, so only the latest are kept.

import { createHash } from "node:crypto";
import { closeSync, mkdirSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { CallError } from "../client/connection.ts";
import { openToAppend, readOwnFile, replaceFile } from "../hosts/shared/own-files.ts";

export type LedgerCall = {
  key: string;
  call: string;
  args: unknown;
  /**
   * A poll of a command's output, which may safely run twice. Only its answer is kept, in case it got lost, and only in memory,
   * because commands end with the daemon.
   */
  isPoll: boolean;
};

type Outcome = { ok: true; data: unknown } | { ok: false; error: { code: number; message: string } };

type Entry = {
  digest: string;
  at: number;
  isPoll: boolean;
  /** Set while this daemon runs it. */
  running?: Promise<Outcome>;
  isDone: boolean;
  /** The outcome as text, if it is kept. */
  result?: string;
};

/** A line of the file: the start of a call, or its end. */
type Line = { key: string; digest: string; at: number } | { key: string; done: true; result?: string };

export type LedgerLimits = { keyMs: number; keys: number; results: number; resultBytes: number; resultsBytes: number; fileBytes: number };

const LIMITS: LedgerLimits = {
  keyMs: 24 * 60 * 60 * 1000,
  keys: 50_000,
  results: 1_024,
  resultBytes: 1024 * 1024,
  resultsBytes: 16 * 1024 * 1024,
  fileBytes: 64 * 1024 * 1024,
};

export class Ledger {
  readonly #file: string;
  readonly #now: () => number;
  readonly #limits: LedgerLimits;
  /** In the order in which they started. */
  readonly #entries = new Map<string, Entry>();
  /** Keys whose result is kept, in the order in which the calls ended. */
  readonly #results = new Set<string>();
  #resultsBytes = 0;
  /** Null when closed: calls that still run then are recorded nevertheless. */
  #handle: number | null;
  #fileBytes = 0;
  #compactBytes = 0;

  constructor(file: string, { now = Date.now, limits = {} }: { now?: () => number; limits?: Partial<LedgerLimits> } = {}) {
    this.#file = file;
    this.#now = now;
    this.#limits = { ...LIMITS, ...limits };
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.#read();
    this.#handle = this.#compact();
  }

  /** Runs a call, or returns the outcome if its key is already known. */
  async runOnce({ key, call, args, isPoll }: LedgerCall, work: () => Promise<unknown>): Promise<unknown> {
    const digest = createHash("sha256")
      .update(JSON.stringify([call, args]))
      .digest("base64url")
      .slice(0, 22);
    const known = this.#entries.get(key);
    if (known !== undefined) return this.#answerRepeat(known, digest);
    this.#makeRoom();
    const at = this.#now();
    const entry: Entry = { digest, at, isPoll, isDone: false };
    this.#entries.set(key, entry);
    if (!isPoll) this.#recordStart({ key, digest, at });
    entry.running = captureOutcome(work);
    const outcome = await entry.running;
    this.#finish(key, entry, outcome);
    return unwrap(outcome);
  }

  close(): void {
    if (this.#handle !== null) closeSync(this.#handle);
    this.#handle = null;
  }

  async #answerRepeat(entry: Entry, digest: string): Promise<unknown> {
    if (entry.digest !== digest) throw new CallError({ code: 409, message: "This key was used for another request" });
    if (entry.running !== undefined) return unwrap(await entry.running);
    if (entry.result !== undefined) return unwrap(JSON.parse(entry.result) as Outcome);
    throw entry.isDone
      ? new CallError({
          code: 409,
          message: "The call ran, but its result is no longer stored: check its effect",
          details: { outcome: "done" },
        })
      : new CallError({
          code: 409,
          message: "The device was stopped during the call, so it may or may not have run: check its effect",
          details: { outcome: "unknown" },
        });
  }

  /** A call that cannot be recorded is not started. */
  #recordStart(line: Line): void {
    try {
      this.#write(line);
    } catch (error) {
      const { message } = error as Error;
      this.#entries.delete(line.key);
      throw new CallError({ code: 507, message: `The device's ledger cannot be written, so the call did not run: ${message}` });
    }
  }

  #finish(key: string, entry: Entry, outcome: Outcome): void {
    delete entry.running;
    entry.isDone = true;
    const text = JSON.stringify(outcome);
    const isKept = text.length <= this.#limits.resultBytes;
    if (isKept) this.#keepResult(key, entry, text);
    else if (entry.isPoll) this.#entries.delete(key);
    if (entry.isPoll) return;
    try {
      this.#write({ key, done: true, ...(isKept ? { result: text } : {}) });
    } catch {
      // The disk is full. This daemon knows the outcome; after a restart it will be unknown.
    }
  }

  #keepResult(key: string, entry: Entry, result: string): void {
    entry.result = result;
    this.#results.add(key);
    this.#resultsBytes += result.length;
    for (const oldest of this.#results) {
      if (this.#results.size <= this.#limits.results && this.#resultsBytes <= this.#limits.resultsBytes) return;
      this.#dropResult(oldest);
    }
  }

  #dropResult(key: string): void {
    const entry = this.#entries.get(key);
    this.#results.delete(key);
    this.#resultsBytes -= entry?.result?.length ?? 0;
    delete entry?.result;
    if (entry?.isPoll) this.#entries.delete(key);
  }

  /** Forgetting a key within its day could run a call twice, so new keys are refused instead. */
  #makeRoom(): void {
    for (const [key, entry] of this.#entries) {
      if (entry.at > this.#now() - this.#limits.keyMs) break;
      if (entry.running === undefined) this.#forget(key);
    }
    if (this.#entries.size >= this.#limits.keys)
      throw new CallError({
        code: 429,
        message: `Too many calls with an idempotency key: this device stores ${this.#limits.keys} a day. Send the call without a key`,
        details: { takesKey: false },
      });
  }

  #forget(key: string): void {
    this.#dropResult(key);
    this.#entries.delete(key);
  }

  #write(line: Line): void {
    const bytes = Buffer.from(formatLine(line));
    if (this.#handle === null) return this.#append(bytes);
    if (writeSync(this.#handle, bytes) < bytes.length) throw new Error("no space left on the disk");
    this.#fileBytes += bytes.length;
    if (this.#fileBytes <= Math.max(this.#limits.fileBytes, 2 * this.#compactBytes)) return;
    closeSync(this.#handle);
    this.#handle = this.#compact();
  }

  /** Replaces the file by a new one with only the live entries. */
  #compact(): number {
    const lines: string[] = [];
    for (const [key, { digest, at, isPoll, isDone, result }] of this.#entries) {
      if (isPoll) continue;
      lines.push(formatLine({ key, digest, at }));
      if (isDone) lines.push(formatLine({ key, done: true, ...(result === undefined ? {} : { result }) }));
    }
    const text = lines.join("");
    replaceFile(this.#file, text);
    this.#compactBytes = this.#fileBytes = text.length;
    return openToAppend(this.#file);
  }

  #append(bytes: Uint8Array): void {
    const handle = openToAppend(this.#file);
    try {
      writeSync(handle, bytes);
    } finally {
      closeSync(handle);
    }
  }

  #read(): void {
    for (const raw of (readOwnFile(this.#file) ?? "").split("\n")) {
      const line = parseLine(raw);
      if (line === null) continue;
      if ("digest" in line) {
        const { key, digest, at } = line;
        if (at > this.#now() - this.#limits.keyMs) this.#entries.set(key, { digest, at, isPoll: false, isDone: false });
        continue;
      }
      const entry = this.#entries.get(line.key);
      if (entry === undefined) continue;
      entry.isDone = true;
      if (line.result !== undefined) this.#keepResult(line.key, entry, line.result);
    }
  }
}

async function captureOutcome(work: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { ok: true, data: await work() };
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    return { ok: false, error: { code: typeof code === "number" ? code : 500, message } };
  }
}

function unwrap(outcome: Outcome): unknown {
  if (outcome.ok) return outcome.data;
  throw new CallError(outcome.error);
}

/** The newline comes first, so that a half-written line of a killed daemon does not corrupt the next one. */
function formatLine(line: Line): string {
  return `\n${JSON.stringify(line)}`;
}

/** Null for a line that a killed daemon did not finish. */
function parseLine(line: string): Line | null {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return null;
  }
}
