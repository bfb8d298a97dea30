// Reads a rotated log of JSON lines: its last lines, and new ones as they are written. Memory holds one block and the requested
// lines, however long the log is.

import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { formatLocalTime } from "../terminal/durations.ts";

const BLOCK_BYTES = 64 * 1024;
const POLL_MS = 300;
/** A gateway's log has pino's numeric levels. */
const LEVELS: Record<string, string> = { 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal" };

/** Oldest first, including rotated files. `end` is where `readNewLines` continues. */
export function lastLines(file: string, count: number): { lines: string[]; end: number } {
  const end = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  let lines = end === 0 ? [] : tail(file, end, count);
  for (let at = 1; lines.length < count && existsSync(`${file}.${at}`); at++) {
    const older = `${file}.${at}`;
    lines = [...tail(older, statSync(older).size, count - lines.length), ...lines];
  }
  return { lines, end };
}

/** Yields lines as they are written after `end`, across rotations, forever. An incomplete line is held until it is complete. */
export async function* readNewLines(file: string, end: number): AsyncGenerator<string> {
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
        // At the end of the file: if the log was rotated, continue with the new file.
        const current = statSync(file, { throwIfNoEntry: false });
        if (current !== undefined && (fd === null || current.ino !== fstatSync(fd).ino)) {
          if (fd !== null) closeSync(fd);
          if (fd !== null || current.size < position) position = 0;
          fd = openSync(file, "r");
          rest = Buffer.alloc(0);
        } else await new Promise((done) => setTimeout(done, POLL_MS));
      }
    }
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** For people: time, level, message, and the rest as name=value. Text that is not JSON, such as a torn line, stays unchanged. */
export function formatLogLine(line: string): string {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  if (typeof fields !== "object" || fields === null) return line;
  const { time, level, msg, ...rest } = fields;
  const at = Date.parse(String(time));
  const when = Number.isNaN(at) ? String(time) : `${formatLocalTime(at)}:${String(new Date(at).getSeconds()).padStart(2, "0")}`;
  const others = Object.entries(rest).map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return [when, (LEVELS[String(level)] ?? String(level)).padEnd(5), String(msg), ...others].join("  ");
}

/** Reads block by block from the end, until there are enough lines. */
function tail(file: string, end: number, count: number): string[] {
  const fd = openSync(file, "r");
  try {
    let begin = end;
    const blocks: Buffer[] = [];
    let newlines = 0;
    // One newline more than lines: the one before the first line.
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
