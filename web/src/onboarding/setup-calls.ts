// Calls to a gateway without a user. Each uses its own connection, because the gateway limits how long a stranger may stay
// connected, and testing a model can take long.

import { signal } from "@preact/signals";
import { CallError, Connection } from "../../../src/client/client.ts";
import type { Args, Result } from "../state/call.ts";
import { startSession } from "../state/session.ts";
import { codeFromUrl } from "./steps.ts";

type SetupCall = "sys.setup" | "sys.setup.assist" | "sys.setup.check";
type GatewayModel = Result<"sys.setup.check">["own"];

const CALL_TIMEOUT_MS = 70_000;

/** The setup code, if the gateway requires one. Held in memory only. */
let setupCode = codeFromUrl;
/** The gateway's own model; null until the gateway has accepted the setup code. */
export const gatewayModel = signal<GatewayModel | null>(null);

export async function callSetup<N extends SetupCall>(name: N, args: Args<N>): Promise<Result<N>> {
  const connection = await Connection.open(location.origin);
  try {
    const withCode = setupCode === "" ? args : { ...args, code: setupCode };
    return await connection.call(name, withCode, { timeoutMs: CALL_TIMEOUT_MS });
  } catch (error) {
    // Somebody else has set up the gateway meanwhile: show the login.
    if (error instanceof CallError && error.code === 409 && /initialized/.test(error.message)) await startSession();
    // A restarted gateway has a new code: ask for it again. The draft stays.
    if (error instanceof CallError && error.code === 403 && gatewayModel.peek() !== null) {
      setupCode = "";
      gatewayModel.value = null;
    }
    throw error;
  } finally {
    connection.close();
  }
}

/** Throws the gateway's error. When it resolves, the gateway has accepted the code. */
export async function openSetup(newCode?: string): Promise<void> {
  if (newCode !== undefined) setupCode = newCode.trim();
  const answer = await callSetup("sys.setup.check", {});
  gatewayModel.value = answer.own;
}

export function hasSetupCode(): boolean {
  return setupCode !== "";
}
