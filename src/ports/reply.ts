// How an answer crosses from one actor to another. Classes do not survive that, so failures cross as values of a known kind.

import { ERRORS, type ErrorCode, SysError } from "../lib/sys-error.ts";
import { StorageError } from "./sql.ts";

export type Failure =
  | { kind: "sys"; code: number; message: string; details?: unknown }
  | { kind: "storage"; full: boolean }
  | { kind: "fault"; message: string };

export type Reply = { ok: true; value: unknown } | { ok: false; failure: Failure };

export function failureOf(error: unknown): Failure {
  if (error instanceof SysError) {
    const failure = { kind: "sys" as const, code: error.code, message: error.message };
    return error.details === undefined ? failure : { ...failure, details: error.details };
  }
  if (error instanceof StorageError) return { kind: "storage", full: error.full };
  return { kind: "fault", message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** A fault stays a fault: the receiver reports it as an incident. */
export function errorOf(failure: Failure): Error {
  switch (failure.kind) {
    case "sys":
      return isCode(failure.code) ? new SysError(failure.code, failure.message, failure.details) : new Error(failure.message);
    case "storage":
      return new StorageError(failure.full, null);
    case "fault":
      return new Error(failure.message);
  }
}

export async function replyOf(answer: Promise<unknown>): Promise<Reply> {
  try {
    return { ok: true, value: await answer };
  } catch (error) {
    return { ok: false, failure: failureOf(error) };
  }
}

export function unwrapReply(reply: Reply): unknown {
  if (!reply.ok) throw errorOf(reply.failure);
  return reply.value;
}

function isCode(code: number): code is ErrorCode {
  return code in ERRORS;
}
