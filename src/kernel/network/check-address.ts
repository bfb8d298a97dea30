// Connects to the gateway by one of its addresses, as a machine would, and says what answered. The gateway is recognized by the time it
// started, which its health page shows.

import { type Net, NetError, type NetResponse } from "../../ports/net.ts";

export type AddressOutcome = "reached" | "unlisted" | "other" | "unreachable" | "private";

type Check = { origin: string; startedAt: number; mayBePrivate: boolean; signal: AbortSignal };

const HEALTH_BYTES_MAX = 4_096;
const TIMEOUT_MS = 8_000;
/** The host and the kernel each read the clock when they start. */
const START_MS = 10_000;
/** The status of a refusal by the Host header. */
const MISDIRECTED = 421;

export async function checkAddress(net: Net, check: Check): Promise<{ outcome: AddressOutcome; reason: string | null }> {
  const { origin, mayBePrivate, signal } = check;
  try {
    const response = await net.fetch(
      { url: `${origin}/healthz`, method: "GET", headers: {} },
      {
        signal,
        bytesMax: HEALTH_BYTES_MAX,
        timeoutMs: TIMEOUT_MS,
        redirects: "manual",
        ...(mayBePrivate ? { isAlsoAllowed: () => true } : {}),
      },
    );
    return { outcome: await recognize(response, check), reason: null };
  } catch (error) {
    if (!(error instanceof NetError)) throw error;
    if (error.kind === "blocked" && !mayBePrivate) return { outcome: "private", reason: null };
    return { outcome: error.kind === "too_large" ? "other" : "unreachable", reason: error.message };
  }
}

async function recognize({ status, body }: NetResponse, { startedAt }: Check): Promise<AddressOutcome> {
  const text = await new Response(body).text();
  if (status === MISDIRECTED) return "unlisted";
  try {
    const health = JSON.parse(text) as { startedAt?: unknown } | null;
    const isOwn = typeof health?.startedAt === "number" && Math.abs(health.startedAt - startedAt) <= START_MS;
    return isOwn ? "reached" : "other";
  } catch {
    return "other";
  }
}
