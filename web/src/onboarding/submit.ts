// Does what was looked over: sets the gateway up and logs in. The password is held until this browser has a token of its own.

import { CallError, ConnectionLost } from "../../../src/client/client.ts";
import { LINE_WORKS_MS } from "../../../src/lib/install-line.ts";
import { go } from "../frame/route.ts";
import { arrival, type Arrival } from "../state/arrival.ts";
import type { Args, Result } from "../state/call.ts";
import { startSession, logIn } from "../state/session.ts";
import { draft, type Draft, forgetDraft, refused } from "./draft.ts";
import { ask, own } from "./gateway.ts";
import { forgetTalk } from "./guide.tsx";

type NodeToken = NonNullable<Result<"sys.setup">["nodeToken"]>;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Where the words of a refusal begin with the name of a value, the field it was typed in. */
const FIELDS: [RegExp, keyof Draft][] = [
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

export function argsOf(draft: Draft, now: number): Args<"sys.setup"> {
  const { username, password, adminMode, adminPassword, timezone, aiKind, provider, model, apiKey, baseUrl } = draft;
  const { hasDevice, deviceId, expiryDays } = draft;
  const ends = expiryDays === "" ? {} : { expiresAt: now + Number(expiryDays) * DAY_MS };
  const reach = { ...(apiKey === "" ? {} : { apiKey }), ...(baseUrl === "" ? {} : { baseUrl }) };
  return {
    username,
    password,
    timezone,
    ...(adminMode === "custom" ? { rootPassword: adminPassword } : {}),
    ...(aiKind === "own" ? {} : { ai: { provider, model, ...reach } }),
    ...(hasDevice ? { node: { deviceId, firstUseWithinMs: LINE_WORKS_MS, ...ends } } : {}),
  };
}

/** Throws what went wrong; where it is about a field, that field says it as well. */
export async function submit(): Promise<void> {
  const { username, password, aiKind, provider } = draft.peek();
  // Fetched while the gateway is busy with the password.
  void import("./arrival.tsx").catch(() => {});
  const nodeToken = await setUp();
  arrival.value = {
    provider: aiKind === "own" ? (own.peek()?.provider ?? "") : provider,
    machine: nodeToken === undefined ? null : machineOf(nodeToken),
  };
  go("/chat", { replace: true });
  await enter(username, password);
  forgetDraft();
  forgetTalk();
}

function machineOf({ allowedDeviceId, token }: NodeToken): Arrival["machine"] {
  return { deviceId: allowedDeviceId ?? "", token, worksUntil: Date.now() + LINE_WORKS_MS };
}

/** Where that fails, the page shows what there is to do: log in, or set up after all. */
async function enter(username: string, password: string): Promise<void> {
  try {
    await logIn({ username, password });
  } catch (error) {
    arrival.value = null;
    if (error instanceof CallError && error.code === 425) throw new ConnectionLost(1006, "The gateway was not reached");
    await startSession();
  }
}

async function setUp(): Promise<NodeToken | undefined> {
  try {
    return (await ask("sys.setup", argsOf(draft.peek(), Date.now()))).nodeToken;
  } catch (error) {
    // It may have been done: then the login says so, and else that there is nobody to log in as.
    if (error instanceof ConnectionLost) return undefined;
    if (error instanceof CallError && error.code === 400) {
      const field = FIELDS.find(([says]) => says.test(error.message))?.[1];
      if (field !== undefined) refused.value = new Map([...refused.peek(), [field, `${error.message}.`]]);
    }
    throw error;
  }
}
