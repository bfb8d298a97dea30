// The record of promises, outside the gateway's process: an append-only file of intents and acknowledgements, and every promise
// found broken. It never decides what a broken promise is; model.ts, check.ts and files.ts do.

import { type FileHandle, open } from "node:fs/promises";

/**
 * lost: an acknowledged write is gone or older than acknowledged. doubled: something is there twice, or a repeat was executed
 * again. half: a part of a write. revived: a removed right is back. damaged: the files. mode: the files' modes. wrong: any other
 * unexpected answer or end.
 */
export type Kind = "lost" | "doubled" | "half" | "revived" | "damaged" | "mode" | "wrong";
export type Violation = { kind: Kind; text: string };

const TAIL = 200;
const TEXT_MAX = 300;
const VIOLATIONS_MAX = 1000;

export class Oracle {
  readonly path: string;
  readonly violations: Violation[] = [];
  acks = 0;
  /** By call. */
  readonly acked: Record<string, number> = {};
  #last = 0;
  readonly #tail: string[] = [];
  #unwritten: string[] = [];
  #writing: Promise<void> | null = null;
  #file: FileHandle | null = null;

  constructor(path: string) {
    this.path = path;
  }

  /** Records a request before it is sent. Returns its number. */
  intent(call: string, args: unknown, key: string | undefined): number {
    const n = ++this.#last;
    this.#record(`intent ${n} ${call}${key === undefined ? "" : ` key=${key}`} ${JSON.stringify(args)}`);
    return n;
  }

  /** Records that the request was answered with ok: from here on the gateway is held to it. */
  ack(n: number, answer: string, call = ""): void {
    this.acks++;
    this.acked[call] = (this.acked[call] ?? 0) + 1;
    this.#record(`ack ${n} ${answer}`);
  }

  note(text: string): void {
    this.#record(`note ${text}`);
  }

  violate(kind: Kind, text: string): void {
    // A badly broken gateway breaks every promise; the first ones tell why.
    if (this.violations.length < VIOLATIONS_MAX) this.violations.push({ kind, text });
    this.#record(`VIOLATION ${kind}: ${text}`);
  }

  count(kind: Kind): number {
    return this.violations.filter((violation) => violation.kind === kind).length;
  }

  tail(): readonly string[] {
    return this.#tail;
  }

  async close(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    await this.#file?.close();
    this.#file = null;
  }

  #record(text: string): void {
    const line = `${Date.now()} ${text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}... (${text.length})` : text}`;
    this.#tail.push(line);
    if (this.#tail.length > TAIL) this.#tail.shift();
    this.#unwritten.push(line);
    this.#writing ??= this.#write();
  }

  /** One write and one sync for all lines that were recorded meanwhile. */
  async #write(): Promise<void> {
    await new Promise(setImmediate);
    this.#file ??= await open(this.path, "a", 0o600);
    while (this.#unwritten.length > 0) {
      const lines = this.#unwritten;
      this.#unwritten = [];
      await this.#file.appendFile(`${lines.join("\n")}\n`);
      await this.#file.datasync();
    }
    this.#writing = null;
  }
}
