// Reading a rotated log of JSON lines: the last ones of it, and those that still come. Holds one block and the lines that
// were asked for, however long the log is.

import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { local } from "../terminal/durations.ts";

const BLOCK_BYTES = 64 * 1024;
const LOOK_EVERY_MS = 300;
/** A gateway's log has pino's numbers. */
const LEVELS: Record<string, string> = { 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal" };

/** Oldest first; reaches back into the files that were put aside. `end` is where `follow` goes on. */
export function lastLines(file: string, count: number): { lines: string[]; end: number } {
  const end = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  let lines = end === 0 ? [] : tail(file, end, count);
  for (let at = 1; lines.length < count && existsSync(`${file}.${at}`); at++) {
    const older = `${file}.${at}`;
    lines = [...tail(older, statSync(older).size, count - lines.length), ...lines];
  }
  return { lines, end };
}

/** Lines as they are written from there on, through rotations, for ever. A line that is not yet whole waits. */
export async function* follow(file: string, end: number): AsyncGenerator<string> {
  let fd: number | null = null;
  let position = end;
  let rest = Buffer.alloc(0);
  const block = Buffer.alloc(BLOCK_BYTES);
  try {
    while (true) {
      const bytes = fd === null ? 0 : readSync(fd, block, 0, BLOCK_BYTES, position);
      if (bytes > 0) {
        position += bytes;
        const whole = Buffer.concat([rest, block.subarray(0, bytes)]);
        const until = whole.lastIndexOf("\n") + 1;
        rest = Buffer.from(whole.subarray(until));
        yield* linesOf(whole.subarray(0, until));
      } else {
        // Read to its end: if another file has its name now, that one goes on.
        const there = statSync(file, { throwIfNoEntry: false });
        if (there !== undefined && (fd === null || there.ino !== fstatSync(fd).ino)) {
          if (fd !== null) closeSync(fd);
          if (fd !== null || there.size < position) position = 0;
          fd = openSync(file, "r");
          rest = Buffer.alloc(0);
        } else await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
      }
    }
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** For people: when, how serious, what, and the rest as name=value. What is no JSON, as a torn line, stays as it is. */
export function pretty(line: string): string {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  if (typeof fields !== "object" || fields === null) return line;
  const { time, level, msg, ...rest } = fields;
  const at = Date.parse(String(time));
  const when = Number.isNaN(at) ? String(time) : `${local(at)}:${String(new Date(at).getSeconds()).padStart(2, "0")}`;
  const others = Object.entries(rest).map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return [when, (LEVELS[String(level)] ?? String(level)).padEnd(5), String(msg), ...others].join("  ");
}

/** Block by block from the end, until enough lines have begun. */
function tail(file: string, end: number, count: number): string[] {
  const fd = openSync(file, "r");
  try {
    let begin = end;
    const blocks: Buffer[] = [];
    let newlines = 0;
    // One newline more than lines: the one before the first of them.
    while (begin > 0 && newlines <= count) {
      const length = Math.min(BLOCK_BYTES, begin);
      const block = Buffer.alloc(length);
      begin -= length;
      readSync(fd, block, 0, length, begin);
      for (const byte of block) if (byte === 10) newlines++;
      blocks.unshift(block);
    }
    return count === 0 ? [] : linesOf(Buffer.concat(blocks)).slice(-count);
  } finally {
    closeSync(fd);
  }
}

function linesOf(bytes: Buffer): string[] {
  return bytes
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
}
