// The calls of a gateway without a user. Each has a line of its own: strangers are not kept waiting for long, and a model
// that is being tried may take its time.

import { signal } from "@preact/signals";
import { CallError, Connection } from "../../../src/client/client.ts";
import type { Args, Result } from "../state/call.ts";
import { startSession } from "../state/session.ts";
import { codeInAddress } from "./steps.ts";

type SetupCall = "sys.setup" | "sys.setup.assist" | "sys.setup.check";
type Own = Result<"sys.setup.check">["own"];

const CALL_MS = 70_000;

/** What opens the door, where there is one. In memory only. */
let code = codeInAddress;
/** The gateway's own model, once the door is open. */
export const own = signal<Own | null>(null);

export async function ask<N extends SetupCall>(name: N, args: Args<N>): Promise<Result<N>> {
  const line = await Connection.open(location.origin);
  try {
    const withCode = code === "" ? args : { ...args, code };
    return await line.call(name, withCode as never, { timeoutMs: CALL_MS });
  } catch (error) {
    // Somebody else has set it up in the meantime, and the page shows what there is now.
    if (error instanceof CallError && error.code === 409 && /initialized/.test(error.message)) await startSession();
    // A gateway that was started anew has a new code: back to the door, with everything that was filled in.
    if (error instanceof CallError && error.code === 403 && own.peek() !== null) {
      code = "";
      own.value = null;
    }
    throw error;
  } finally {
    line.close();
  }
}

/** Throws what the gateway said; the door is open when it resolves. */
export async function knock(given?: string): Promise<void> {
  if (given !== undefined) code = given.trim();
  const answer = await ask("sys.setup.check", {});
  own.value = answer.own;
}

export function hasCode(): boolean {
  return code !== "";
}
