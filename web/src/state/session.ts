// Whether this page is connected, and as which user: one state machine, exposed as signals. Only onboarding opens other
// connections, before there is a user.
//
//   starting --> setup            the gateway has no user yet
//            --> login            nobody is logged in
//            --> open <--> lost   logged in; lost while the gateway is unreachable, reconnects automatically
//            --> lost             the gateway has not answered yet
//
// A password is used for one short connection that creates a token for this browser; the page then connects with the token. An
// account that may not create tokens keeps the first connection.

import { computed, signal } from "@preact/signals";
import { CallError, type Client, connect, ConnectionLost, Connection, type Session } from "../../../src/client/client.ts";
import { allows } from "../../../src/lib/capability.ts";
import { readPushMemory } from "./push-memory.ts";
import { browserLabel, storeBrowserToken, BROWSER_TOKEN_KEY, type BrowserToken, readBrowserToken } from "./browser-token.ts";

export type Phase = "starting" | "setup" | "login" | "open" | "lost";

const TOKEN_MS = 30 * 24 * 60 * 60 * 1000;
/** The gateway closes a socket with this code when its credential is revoked or expires. */
const POLICY_VIOLATION = 1008;
/** How long a logout waits for the gateway. */
const LOGOUT_WAIT_MS = 5_000;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 15_000;

const currentPhase = signal<Phase>("starting");
const currentClient = signal<Client | null>(null);
const currentSession = signal<Session | null>(null);
const currentReason = signal<string | null>(null);
/** The token of this page's connection, also if the browser stores nothing. */
let currentToken: BrowserToken | null = null;
let endRetryWait: () => void = () => {};
/** How often a connection was opened. Data read before the last one may be outdated. */
const connections = signal(0);

export const phase = computed(() => currentPhase.value);
/** Null unless somebody is logged in. It stays while the connection is lost, because the client reconnects by itself. */
export const client = computed(() => currentClient.value);
export const session = computed(() => currentSession.value);
/** Why the user has to log in again. */
export const loginReason = computed(() => currentReason.value);
export const connectionCount = computed(() => connections.value);
export const username = computed(() => currentSession.value?.identity.process.username ?? "");

/** Whether the user may make a call: screens hide what the user may not do. */
export function mayCall(call: string): boolean {
  return allows(currentSession.value?.identity.capabilities ?? [], call);
}

/** Called when the page loads, when set-up is over, and when another tab has logged in. */
export async function startSession(): Promise<void> {
  for (let waitMs = RETRY_MS_MIN; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
    try {
      const browserToken = readBrowserToken();
      if (browserToken !== null) return await connectWithToken(browserToken);
      currentPhase.value = (await isSetupMode()) ? "setup" : "login";
      return;
    } catch (error) {
      if (error instanceof CallError && error.code === 425) return showSetup();
      if (error instanceof CallError && !error.retryable) return showLogin(explainLogout(error));
      currentPhase.value = "lost";
      await waitForRetry(waitMs);
    }
  }
}

/** Throws the gateway's error. When it resolves, the page is logged in or about to reload. */
export async function logIn(auth: { username: string; password: string }): Promise<void> {
  const hadSession = currentSession.peek() !== null;
  const passwordClient = await connect({ url: location.origin, auth, client: makeClientInfo(), reconnect: false });
  const browserToken = await createBrowserToken(passwordClient, auth.username);
  if (browserToken === null && !hadSession) {
    passwordClient.keepConnected();
    return adoptClient(passwordClient);
  }
  passwordClient.close();
  if (browserToken !== null) storeBrowserToken(browserToken);
  // The page still holds data of the previous user, so it reloads. Without a token the user has to log in once more.
  if (hadSession || browserToken === null) return location.reload();
  await connectWithToken(browserToken);
}

export async function logOut(): Promise<void> {
  const open = currentClient.peek();
  const browserToken = currentToken;
  storeBrowserToken(null);
  // The number of questions on the icon of the installed app.
  if ("clearAppBadge" in navigator) void navigator.clearAppBadge().catch(() => {});
  // What is still under way must not appear in a browser that others may use next.
  if (readPushMemory() !== null)
    await Promise.race([import("./push.ts").then(({ forgetPush }) => forgetPush()), waitForLogout()]).catch(() => {});
  const isRevoked = open === null || browserToken === null || (await revokeToken(open, browserToken));
  if (open !== null) open.onStatus = () => {};
  open?.close();
  // A fresh page holds nothing of the previous user. It cannot be loaded while the gateway is unreachable.
  if (isRevoked) location.assign("/");
  else
    showLogin(
      `You are signed out here. The gateway did not answer, so this session is still valid. Revoke it later: gsv token revoke ${browserToken.tokenId}`,
    );
}

/** Resolves to whether the gateway has answered. Revoking the token closes the connection, sometimes before the result arrives. */
function revokeToken(open: Client, { tokenId }: BrowserToken): Promise<boolean> {
  const answered = open.call("sys.token.revoke", { tokenId }).then(
    () => true,
    (error: unknown) => error instanceof CallError || (error instanceof ConnectionLost && error.code === POLICY_VIOLATION),
  );
  return Promise.race([answered, waitForLogout().then(() => false)]);
}

function waitForLogout(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOGOUT_WAIT_MS));
}

async function connectWithToken(browserToken: BrowserToken): Promise<void> {
  const { username, token } = browserToken;
  currentToken = browserToken;
  adoptClient(await connect({ url: location.origin, auth: { username, token }, client: makeClientInfo() }));
}

function adoptClient(client: Client): void {
  client.onStatus = (status, why) => {
    if (status === "reconnecting") currentPhase.value = "lost";
    if (status === "closed") showLogin(explainLogout(why));
    if (status === "connected") markOpen(client);
  };
  currentClient.value = client;
  markOpen(client);
}

function markOpen(client: Client): void {
  currentSession.value = client.session;
  currentReason.value = null;
  currentPhase.value = "open";
  connections.value += 1;
}

function showLogin(why: string): void {
  const storedToken = readBrowserToken();
  // Another tab has logged in meanwhile: use its token instead of deleting it.
  if (storedToken !== null && storedToken.tokenId !== currentToken?.tokenId) return location.reload();
  storeBrowserToken(null);
  currentToken = null;
  currentClient.value = null;
  currentReason.value = why;
  currentPhase.value = "login";
}

function showSetup(): void {
  storeBrowserToken(null);
  currentPhase.value = "setup";
}

function explainLogout(error: Error | null): string {
  const isEnded =
    (error instanceof CallError && error.code === 401) || (error instanceof ConnectionLost && error.code === POLICY_VIOLATION);
  if (isEnded) return "You were signed out: the session has expired or was revoked. Sign in again.";
  return error instanceof CallError ? error.message : "The gateway ended this session. Sign in again.";
}

/** The gateway refuses this call of a stranger: with code 425 while it has no user, with another code after set-up. */
async function isSetupMode(): Promise<boolean> {
  const connection = await Connection.open(location.origin);
  try {
    await connection.call("sys.info", {}, { timeoutMs: 10_000 });
    return false;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return error.code === 425;
  } finally {
    connection.close();
  }
}

/** Null if this account may not create tokens: the session then ends with the page. */
async function createBrowserToken(passwordClient: Client, username: string): Promise<BrowserToken | null> {
  try {
    const created = await passwordClient.call("sys.token.create", {
      kind: "user",
      label: browserLabel(),
      expiresAt: Date.now() + TOKEN_MS,
    });
    const { token, tokenId, expiresAt } = created.token;
    return { username, token, tokenId, expiresAt: expiresAt ?? Date.now() + TOKEN_MS };
  } catch (error) {
    if (error instanceof CallError && (error.code === 403 || error.code === 409)) return null;
    throw error;
  }
}

/** Each tab has its own client id: the gateway closes the older of two connections of a user with the same id. */
function makeClientInfo(): { id: string; version: string; platform: string; role: "user" } {
  const id = crypto.getRandomValues(new Uint32Array(3)).reduce((text, part) => text + part.toString(36), "web-");
  return { id, version: "", platform: "web", role: "user" };
}

/** `retryNow` ends the wait early. */
function waitForRetry(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms * (0.5 + Math.random() / 2));
    endRetryWait = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

/** The network is back, or the page is visible again: reconnect without waiting. */
function retryNow(): void {
  if (document.visibilityState === "hidden") return;
  endRetryWait();
  currentClient.peek()?.reconnectNow();
}

addEventListener("online", retryNow);
document.addEventListener("visibilitychange", retryNow);

/** If another tab has logged in, this tab uses its token. */
addEventListener("storage", (event) => {
  if (event.key !== BROWSER_TOKEN_KEY || event.newValue === null || currentPhase.peek() !== "login") return;
  if (currentSession.peek() !== null) location.reload();
  else void startSession();
});
