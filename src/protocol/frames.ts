// The frames on a WebSocket, and how text is decoded into one. Nothing here knows the sender.

import { type ErrorShape, SysError } from "../lib/sys-error.ts";
import { LIMITS } from "./limits.ts";
import { findFrameProblem } from "./scan.ts";
import type { Payload, SignalName } from "./signals.ts";

export const PROTOCOL = 1 as const;

/** Keepalive outside the frames: hosts answer this text with PONG without waking the kernel. */
export const PING = "ping";
export const PONG = "pong";

/** `key` is an idempotency key: for 24 hours, a repeat by the same user gets the first result. */
export type Req = { type: "req"; id: string; call: string; args: Record<string, unknown>; key?: string };
export type ResOk = { type: "res"; id: string; ok: true; data?: unknown };
export type ResErr = { type: "res"; id: string; ok: false; error: ErrorShape };
export type Res = ResOk | ResErr;
export type Sig = { type: "sig"; signal: string; payload?: unknown; seq?: number };
export type Frame = Req | Res | Sig;

/** The id of an answer to a frame whose own id could not be read. */
export const UNKNOWN_ID = "?";

export type Refusal = { type: "refusal"; id: string; error: SysError };

/** Never throws: text from outside becomes a frame, or the refusal to send back. */
export function decodeFrame(text: string): Frame | Refusal {
  const found = findFrameProblem(text);
  if (found !== null) return makeRefusal(UNKNOWN_ID, 413, found);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return makeRefusal(UNKNOWN_ID, 400, "Malformed JSON");
  }
  if (!isObject(value)) return makeRefusal(UNKNOWN_ID, 400, "Invalid frame type");
  // Only text with an escape or the name itself can contain either, so ordinary frames skip this check.
  if (text.includes("\\u") || text.includes("__proto__")) {
    const problem = findProblem(value);
    if (problem !== null) return makeRefusal(readRequestId(value), 400, problem);
  }
  switch (value.type) {
    case "req":
      return decodeReq(value);
    case "res":
      return decodeRes(value);
    case "sig":
      if (typeof value.signal !== "string") return makeRefusal(UNKNOWN_ID, 400, "Invalid signal: signal must be a string");
      return { type: "sig", signal: value.signal, payload: value.payload };
    default:
      return makeRefusal(UNKNOWN_ID, 400, "Invalid frame type");
  }
}

/** `seq` numbers the events of a process. */
export function encodeSignalFrame<N extends SignalName>(signal: N, payload: Payload<N>, seq?: number): string {
  return JSON.stringify({ type: "sig", signal, payload, ...(seq === undefined ? {} : { seq }) });
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function decodeReq(value: Record<string, unknown>): Req | Refusal {
  const { id, call, args, key } = value;
  if (!isShortText(id, LIMITS.requestIdBytes))
    return makeRefusal(UNKNOWN_ID, 400, `Invalid request id: must be a string of 1 to ${LIMITS.requestIdBytes} bytes`);
  if (!isShortText(call, 128)) return makeRefusal(id, 400, "Invalid request: call must be the name of a syscall");
  if (args !== undefined && args !== null && !isObject(args)) return makeRefusal(id, 400, "Invalid request: args must be an object");
  const frame: Req = { type: "req", id, call, args: args ?? {} };
  if (key !== undefined && key !== null) {
    if (!isShortText(key, LIMITS.idempotencyKeyBytes))
      return makeRefusal(id, 400, `Invalid request key: must be a string of 1 to ${LIMITS.idempotencyKeyBytes} bytes`);
    frame.key = key;
  }
  return frame;
}

function decodeRes(value: Record<string, unknown>): Res | Refusal {
  const { id, ok, data, error } = value;
  if (!isShortText(id, LIMITS.requestIdBytes)) return makeRefusal(UNKNOWN_ID, 400, "Invalid response id");
  if (ok === true) return { type: "res", id, ok, data };
  if (ok === false && isObject(error) && typeof error.code === "number" && typeof error.message === "string") {
    const { code, message, details } = error;
    return { type: "res", id, ok, error: { code, message, ...(isObject(details) ? { details } : {}) } };
  }
  return makeRefusal(id, 400, "Invalid response");
}

function isShortText(value: unknown, bytesMax: number): value is string {
  if (typeof value !== "string" || value === "" || value.length > bytesMax) return false;
  return value.length * 3 <= bytesMax || new TextEncoder().encode(value).length <= bytesMax;
}

/** A lone surrogate cannot be stored or forwarded unchanged; a `__proto__` key is never data. */
function findProblem(value: unknown): string | null {
  if (typeof value === "string") return value.isWellFormed() ? null : "Malformed text: a lone surrogate";
  if (typeof value !== "object" || value === null) return null;
  for (const key of Object.keys(value)) {
    if (key === "__proto__") return "Reserved key: __proto__";
    const problem = findProblem(key) ?? findProblem((value as Record<string, unknown>)[key]);
    if (problem !== null) return problem;
  }
  return null;
}

function readRequestId(value: Record<string, unknown>): string {
  return isShortText(value.id, LIMITS.requestIdBytes) && value.id.isWellFormed() ? value.id : UNKNOWN_ID;
}

function makeRefusal(id: string, code: 400 | 413, message: string): Refusal {
  return { type: "refusal", id, error: new SysError(code, message) };
}

/** The answer that replaces a waiting one when its batch did not reach the disk. */
export function encodeLostBatchFrame(id: string, full: boolean, message: string): string {
  const error = new SysError(full ? 507 : 500, message).toShape();
  return JSON.stringify({ type: "res", id, ok: false, error });
}
