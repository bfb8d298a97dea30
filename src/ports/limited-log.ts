// The log that everything except the hosts' own start uses. No caller can flood it: it writes one line a minute per kind and
// source, the first one at once. It counts further lines, and the next line says how many were left out. Fields are truncated and
// control characters removed, so that a line stays one line wherever it is shown.

import { addressKey } from "../lib/address.ts";
import type { Log, LogFields } from "./log.ts";

/** `uid` if the gateway knows the caller, else `address`. */
export type IncidentSource = { call: string; uid?: number | undefined; address?: string | undefined };

type Minute = { kind: string; since: number; leftOut: number; incident: string };
type Level = keyof Log;

const MINUTE_MS = 60_000;
/** How many pairs of kind and source are limited separately; all others share one line a minute per kind. */
export const SOURCES_MAX = 1_000;
/** More kinds than the code has: a stranger's input must not create new ones without limit. */
const KINDS_MAX = 500;
const FIELD_CHARS = 300;
/** Errors include their stack. */
const ERROR_CHARS = 4_000;
/** Fields that name who caused a line, the most precise first. */
const SOURCES = ["address", "uid", "pid", "repo"] as const;
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

export class LimitedLog implements Log {
  readonly #log: Log;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #minutes = new Map<string, Minute>();
  readonly #shared = new Map<string, Minute>();

  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  debug(message: string, fields: LogFields = {}): void {
    this.#writeLine("debug", message, fields);
  }

  info(message: string, fields: LogFields = {}): void {
    this.#writeLine("info", message, fields);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#writeLine("warn", message, fields);
  }

  error(message: string, fields: LogFields = {}): void {
    this.#writeLine("error", message, fields);
  }

  /**
   * Logs a bug of ours. Every cause gets a first line. Returns the id to give to the caller: `id`, or that of the line already
   * written for the same cause, so that looking it up finds a line.
   */
  reportIncident(id: string, { call, uid, address }: IncidentSource, error: unknown): string {
    const source = uid === undefined ? addressKey(address ?? "") : String(uid);
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const minute = this.#writeOrCount(`incident ${call} ${causeOf(error)}`, source, (leftOut, started) => {
      started.incident = id;
      this.#log.error("incident", sanitizeFields({ incident: id, call, uid, address, error: text, leftOut }));
    });
    return minute.incident;
  }

  #writeLine(level: Level, message: string, fields: LogFields): void {
    const { call = "", status = "" } = fields;
    const name = SOURCES.find((name) => fields[name] !== undefined);
    const source = name === undefined ? "" : String(fields[name]);
    this.#writeOrCount(`${level} ${message} ${call} ${status}`, name === "address" ? addressKey(source) : source, (leftOut) =>
      this.#log[level](message, sanitizeFields({ ...fields, leftOut })),
    );
  }

  #writeOrCount(kind: string, source: string, write: (leftOut: number | undefined, minute: Minute) => void): Minute {
    const now = this.#now();
    const key = `${kind}\n${source.slice(0, FIELD_CHARS)}`;
    const minute = this.#minutes.get(key) ?? this.#startMinute(key, kind, now);
    if (isRunning(minute, now)) {
      minute.leftOut++;
      return minute;
    }
    if (this.#minutes.delete(key)) this.#minutes.set(key, minute);
    const { leftOut } = minute;
    Object.assign(minute, { since: now, leftOut: 0 });
    write(leftOut === 0 ? undefined : leftOut, minute);
    return minute;
  }

  #startMinute(key: string, kind: string, now: number): Minute {
    for (const [old, minute] of this.#minutes) {
      if (this.#minutes.size < SOURCES_MAX || isRunning(minute, now)) break;
      this.#minutes.delete(old);
      if (minute.leftOut > 0) this.#sharedMinute(minute.kind).leftOut += minute.leftOut;
    }
    if (this.#minutes.size >= SOURCES_MAX) return this.#sharedMinute(kind);
    const minute = newMinute(kind);
    this.#minutes.set(key, minute);
    return minute;
  }

  #sharedMinute(kind: string): Minute {
    const key = this.#shared.has(kind) || this.#shared.size < KINDS_MAX ? kind : "";
    const minute = this.#shared.get(key) ?? newMinute(kind);
    this.#shared.set(key, minute);
    return minute;
  }
}

function newMinute(kind: string): Minute {
  return { kind, since: -Infinity, leftOut: 0, incident: "" };
}

/** A start in the future means that the clock was set back. */
function isRunning({ since }: Minute, now: number): boolean {
  return since <= now && now < since + MINUTE_MS;
}

/** The place in the code, without the message, which may contain a caller's input. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { name, message, stack = "" } = error;
  const frames = stack.slice(Math.max(0, stack.indexOf(message)) + message.length);
  return `${name} ${/\n\s+at (?:[^\n(]{0,300}\()?([^\n()]{1,300})/.exec(frames)?.[1] ?? ""}`;
}

function sanitizeFields(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      if (value === undefined) return [];
      return [[name, typeof value === "string" ? truncate(value, name === "error" ? ERROR_CHARS : FIELD_CHARS) : value]];
    }),
  );
}

function truncate(text: string, chars: number): string {
  const start = text.length > chars ? `${text.slice(0, chars)}…` : text;
  return start.replace(UNPRINTABLE, " ");
}
