// Applies the review: sets up the gateway and logs in. The password is kept in memory until this browser has a token.

import { CallError, ConnectionLost } from "../../../src/client/client.ts";
import { LINE_WORKS_MS } from "../../../src/lib/install-line.ts";
import { go } from "../frame/route.ts";
import { arrival, type ArrivalMachine } from "../state/arrival.ts";
import type { Args, Result } from "../state/call.ts";
import { startSession, logIn } from "../state/session.ts";
import { draft, type Draft, clearDraft, rejectedFields } from "./draft.ts";
import { callSetup } from "./setup-calls.ts";
import { clearGuide } from "./guide-messages.ts";

type NodeToken = NonNullable<Result<"sys.setup">["nodeToken"]>;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Maps the gateway's error messages to the field they are about. */
const ERROR_FIELDS: [RegExp, keyof Draft][] = [
  [/^username\b|already (?:taken|exists)/i, "username"],
  [/^password\b/, "password"],
  [/^rootPassword\b/, "adminPassword"],
  [/^timezone\b/, "timezone"],
  [/^ai\.model\b/, "model"],
  [/^ai\.baseUrl\b/, "baseUrl"],
  [/^ai\b/, "provider"],
  [/^node\.expiresAt\b/, "expiryDays"],
  [/^node\b/, "deviceId"],
];

export function makeSetupArgs(draft: Draft, now: number): Args<"sys.setup"> {
  const { username, password, adminMode, adminPassword, timezone, aiKind, provider, model, apiKey, baseUrl } = draft;
  const { hasDevice, deviceId, expiryDays } = draft;
  const expiry = expiryDays === "" ? {} : { expiresAt: now + Number(expiryDays) * DAY_MS };
  const endpoint = { ...(apiKey === "" ? {} : { apiKey }), ...(baseUrl === "" ? {} : { baseUrl }) };
  return {
    username,
    password,
    timezone,
    ...(adminMode === "custom" ? { rootPassword: adminPassword } : {}),
    ...(aiKind === "own" ? {} : { ai: { provider, model, ...endpoint } }),
    ...(hasDevice ? { node: { deviceId, firstUseWithinMs: LINE_WORKS_MS, ...expiry } } : {}),
  };
}

/** Throws on failure. An error about a field is also shown at that field. */
export async function submitSetup(): Promise<void> {
  const { username, password, adminMode } = draft.peek();
  // Load it while the gateway hashes the password.
  void import("./arrival.tsx").catch(() => {});
  const nodeToken = await callSysSetup();
  arrival.value = {
    page: "start",
    machine: nodeToken === undefined ? null : makeArrivalMachine(nodeToken),
    hasSameRootPassword: adminMode === "same",
  };
  go("/chat", { replace: true });
  await logInAfterSetup(username, password);
  clearDraft();
  clearGuide();
}

function makeArrivalMachine({ allowedDeviceId, token }: NodeToken): ArrivalMachine {
  return { deviceId: allowedDeviceId ?? "", token, usableUntil: Date.now() + LINE_WORKS_MS };
}

/** If the login fails, the page shows what is next: login, or set-up again. */
async function logInAfterSetup(username: string, password: string): Promise<void> {
  try {
    await logIn({ username, password });
  } catch (error) {
    arrival.value = null;
    if (error instanceof CallError && error.code === 425) throw new ConnectionLost(1006, "The gateway was not reached");
    await startSession();
  }
}

async function callSysSetup(): Promise<NodeToken | undefined> {
  try {
    return (await callSetup("sys.setup", makeSetupArgs(draft.peek(), Date.now()))).nodeToken;
  } catch (error) {
    // The set-up may have succeeded: the login will tell.
    if (error instanceof ConnectionLost) return undefined;
    if (error instanceof CallError && error.code === 400) {
      const field = ERROR_FIELDS.find(([pattern]) => pattern.test(error.message))?.[1];
      if (field !== undefined) rejectedFields.value = new Map([...rejectedFields.peek(), [field, `${error.message}.`]]);
    }
    throw error;
  }
}
