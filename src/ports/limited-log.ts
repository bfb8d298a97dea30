// The log as everything but the hosts' own start uses it: nobody can make it say much. Of each kind of line it writes one a
// minute for each source, the first at once; further ones are counted, and the next line says how many were left out. Fields are
// cut and hold no control characters, so that a line stays one line wherever it is shown.

import { addressKey } from "../lib/address.ts";
import type { Log, LogFields } from "./log.ts";

/** `uid` where the gateway knows who it is, `address` where it does not. */
export type IncidentSource = { call: string; uid?: number | undefined; address?: string | undefined };

type Minute = { kind: string; since: number; leftOut: number; incident: string };
type Level = keyof Log;

const MINUTE_MS = 60_000;
/** Kinds and sources that are told apart; what comes on top of that shares one line a minute for each kind. */
export const SOURCES_MAX = 1_000;
/** More than there are in the code: what a stranger sends must not make new ones. */
const KINDS_MAX = 500;
const FIELD_CHARS = 300;
/** An error comes with its stack. */
const ERROR_CHARS = 4_000;
/** Fields that say who caused a line, the best first. */
const SOURCES = ["address", "uid", "pid", "repo"] as const;
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

export class LimitedLog implements Log {
  readonly #log: Log;
  readonly #now: () => number;
  /** The one that began first is first. */
  readonly #minutes = new Map<string, Minute>();
  readonly #shared = new Map<string, Minute>();

  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  debug(message: string, fields: LogFields = {}): void {
    this.#line("debug", message, fields);
  }

  info(message: string, fields: LogFields = {}): void {
    this.#line("info", message, fields);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#line("warn", message, fields);
  }

  error(message: string, fields: LogFields = {}): void {
    this.#line("error", message, fields);
  }

  /**
   * Something of ours broke. Every cause has a first line. Returns the id to tell the caller: `id`, or that of the line which
   * already stands for the same cause, so that whoever looks it up finds one.
   */
  incident(id: string, { call, uid, address }: IncidentSource, error: unknown): string {
    const source = uid === undefined ? addressKey(address ?? "") : String(uid);
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const minute = this.#pass(`incident ${call} ${causeOf(error)}`, source, (leftOut, begun) => {
      begun.incident = id;
      this.#log.error("incident", plain({ incident: id, call, uid, address, error: text, leftOut }));
    });
    return minute.incident;
  }

  #line(level: Level, message: string, fields: LogFields): void {
    const { call = "", status = "" } = fields;
    const name = SOURCES.find((name) => fields[name] !== undefined);
    const source = name === undefined ? "" : String(fields[name]);
    this.#pass(`${level} ${message} ${call} ${status}`, name === "address" ? addressKey(source) : source, (leftOut) =>
      this.#log[level](message, plain({ ...fields, leftOut })),
    );
  }

  #pass(kind: string, source: string, write: (leftOut: number | undefined, minute: Minute) => void): Minute {
    const now = this.#now();
    const key = `${kind}\n${source.slice(0, FIELD_CHARS)}`;
    const minute = this.#minutes.get(key) ?? this.#begin(key, kind, now);
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

  #begin(key: string, kind: string, now: number): Minute {
    for (const [old, minute] of this.#minutes) {
      if (this.#minutes.size < SOURCES_MAX || isRunning(minute, now)) break;
      this.#minutes.delete(old);
      if (minute.leftOut > 0) this.#sharedBy(minute.kind).leftOut += minute.leftOut;
    }
    if (this.#minutes.size >= SOURCES_MAX) return this.#sharedBy(kind);
    const minute = begun(kind);
    this.#minutes.set(key, minute);
    return minute;
  }

  #sharedBy(kind: string): Minute {
    const key = this.#shared.has(kind) || this.#shared.size < KINDS_MAX ? kind : "";
    const minute = this.#shared.get(key) ?? begun(kind);
    this.#shared.set(key, minute);
    return minute;
  }
}

function begun(kind: string): Minute {
  return { kind, since: -Infinity, leftOut: 0, incident: "" };
}

/** One that began in the future began before the clock was set back. */
function isRunning({ since }: Minute, now: number): boolean {
  return since <= now && now < since + MINUTE_MS;
}

/** The place in the code, and nothing of the message: that may hold what somebody sent. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { name, message, stack = "" } = error;
  const frames = stack.slice(Math.max(0, stack.indexOf(message)) + message.length);
  return `${name} ${/\n\s+at (?:[^\n(]{0,300}\()?([^\n()]{1,300})/.exec(frames)?.[1] ?? ""}`;
}

function plain(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      if (value === undefined) return [];
      return [[name, typeof value === "string" ? cut(value, name === "error" ? ERROR_CHARS : FIELD_CHARS) : value]];
    }),
  );
}

function cut(text: string, chars: number): string {
  const start = text.length > chars ? `${text.slice(0, chars)}…` : text;
  return start.replace(UNPRINTABLE, " ");
}
