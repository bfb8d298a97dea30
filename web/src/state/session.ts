// Whether this page is connected, and as whom. One state machine, seen through signals; nothing else opens a connection.
//
//   starting --> setup            the gateway has no user yet
//            --> login            nobody is logged in here, or no longer
//            --> open <--> lost   logged in; lost while the gateway cannot be reached, which mends itself
//            --> lost             the gateway has not answered yet
//
// A login by password lasts for one short connection, which makes a token for this browser; all else is done with that.

import { computed, signal } from "@preact/signals";
import { CallError, type Client, connect, ConnectionLost, Connection, type Session } from "../../../src/client/client.ts";
import { allows } from "../../../src/lib/capability.ts";
import { browserLabel, keepPass, PASS_KEY, type Pass, readPass } from "./browser-token.ts";

export type Phase = "starting" | "setup" | "login" | "open" | "lost";

const PASS_MS = 30 * 24 * 60 * 60 * 1000;
/** The code of a socket that was closed because its identity was taken. */
const POLICY = 1008;
/** How long a log-out waits for the gateway. */
const GOODBYE_MS = 5_000;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 15_000;

const phaseNow = signal<Phase>("starting");
const clientNow = signal<Client | null>(null);
const sessionNow = signal<Session | null>(null);
const reasonNow = signal<string | null>(null);
/** What this page is connected with, also where the browser keeps nothing. */
let passNow: Pass | null = null;
let endWait: () => void = () => {};
/** Counts the times a line was opened: what was read before may have missed something. */
const lines = signal(0);

export const phase = computed(() => phaseNow.value);
/** The client while somebody is logged in, also while its line is cut: it comes back by itself. */
export const client = computed(() => clientNow.value);
export const session = computed(() => sessionNow.value);
/** Why one has to log in again, for whoever is told to. */
export const reason = computed(() => reasonNow.value);
export const connected = computed(() => lines.value);
export const username = computed(() => sessionNow.value?.identity.process.username ?? "");

/** What one may not do need not be shown. */
export function may(call: string): boolean {
  return allows(sessionNow.value?.identity.capabilities ?? [], call);
}

/** Called once, when the page begins; again after set-up. */
export async function begin(): Promise<void> {
  for (let waitMs = RETRY_MS_MIN; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
    try {
      const pass = readPass();
      if (pass !== null) return await openWith(pass);
      phaseNow.value = (await isSetupMode()) ? "setup" : "login";
      return;
    } catch (error) {
      if (error instanceof CallError && error.code === 425) return setUp();
      if (error instanceof CallError && !error.retryable) return loggedOut(whyOut(error));
      phaseNow.value = "lost";
      await soon(waitMs);
    }
  }
}

/** Throws what the gateway said; the page is open when it resolves. */
export async function logIn(auth: { username: string; password: string }): Promise<void> {
  const hadUser = sessionNow.peek() !== null;
  const entered = await connect({ url: location.origin, auth, client: describe(), reconnect: false });
  const pass = await makePass(entered, auth.username);
  if (pass === null && !hadUser) {
    entered.keepConnected();
    return opened(entered);
  }
  entered.close();
  if (pass !== null) keepPass(pass);
  // Whatever this page still holds belongs to whoever was here before. Without a token that means to log in once more.
  if (hadUser || pass === null) return location.reload();
  await openWith(pass);
}

export async function logOut(): Promise<void> {
  const open = clientNow.peek();
  const pass = passNow;
  keepPass(null);
  const isEnded = open === null || pass === null || (await revoked(open, pass));
  if (open !== null) open.onStatus = () => {};
  open?.close();
  // A fresh page holds nothing of the one before; but where the gateway is away there is none to be had.
  if (isEnded) location.assign("/");
  else
    loggedOut(
      `You are logged out here, but the gateway did not answer, so the token of this browser still lives. End it later: npx gsv token revoke ${pass.tokenId}`,
    );
}

/** The line ends with the token, sometimes before the answer. */
function revoked(open: Client, { tokenId }: Pass): Promise<boolean> {
  const told = open.call("sys.token.revoke", { tokenId }).then(
    () => true,
    (error: unknown) => error instanceof CallError || (error instanceof ConnectionLost && error.code === POLICY),
  );
  return Promise.race([told, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), GOODBYE_MS))]);
}

async function openWith(pass: Pass): Promise<void> {
  const { username, token } = pass;
  passNow = pass;
  opened(await connect({ url: location.origin, auth: { username, token }, client: describe() }));
}

function opened(client: Client): void {
  client.onStatus = (status, why) => {
    if (status === "reconnecting") phaseNow.value = "lost";
    if (status === "closed") loggedOut(whyOut(why));
    if (status === "connected") nowOpen(client);
  };
  clientNow.value = client;
  nowOpen(client);
}

function nowOpen(client: Client): void {
  sessionNow.value = client.session;
  reasonNow.value = null;
  phaseNow.value = "open";
  lines.value += 1;
}

function loggedOut(why: string): void {
  const kept = readPass();
  // Another tab has logged in meanwhile: what it keeps is not ours to throw away, but to use.
  if (kept !== null && kept.tokenId !== passNow?.tokenId) return location.reload();
  keepPass(null);
  passNow = null;
  clientNow.value = null;
  reasonNow.value = why;
  phaseNow.value = "login";
}

function setUp(): void {
  keepPass(null);
  phaseNow.value = "setup";
}

function whyOut(error: Error | null): string {
  const isEnded = (error instanceof CallError && error.code === 401) || (error instanceof ConnectionLost && error.code === POLICY);
  if (isEnded) return "You were logged out: the session has ended or was revoked. Log in again.";
  return error instanceof CallError ? error.message : "The gateway ended this session. Log in again.";
}

/** Whatever a stranger asks that is not for strangers is answered by which of the two it is. */
async function isSetupMode(): Promise<boolean> {
  const line = await Connection.open(location.origin);
  try {
    await line.call("sys.info", {}, { timeoutMs: 10_000 });
    return false;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return error.code === 425;
  } finally {
    line.close();
  }
}

/** Null where this account may make none: then the session ends with the page. */
async function makePass(entered: Client, username: string): Promise<Pass | null> {
  try {
    const made = await entered.call("sys.token.create", { kind: "user", label: browserLabel(), expiresAt: Date.now() + PASS_MS });
    const { token, tokenId, expiresAt } = made.token;
    return { username, token, tokenId, expiresAt: expiresAt ?? Date.now() + PASS_MS };
  } catch (error) {
    if (error instanceof CallError && (error.code === 403 || error.code === 409)) return null;
    throw error;
  }
}

/** A tab is a client of its own: one that had the id of another would push it out. */
function describe(): { id: string; version: string; platform: string; role: "user" } {
  const id = crypto.getRandomValues(new Uint32Array(3)).reduce((text, part) => text + part.toString(36), "web-");
  return { id, version: "", platform: "web", role: "user" };
}

/** Sooner where `reconnectNow` is called. */
function soon(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms * (0.5 + Math.random() / 2));
    endWait = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

/** The browser says that the network is back, or somebody looks at the page again: no reason to wait. */
function hurry(): void {
  if (document.visibilityState === "hidden") return;
  endWait();
  clientNow.peek()?.reconnectNow();
}

addEventListener("online", hurry);
document.addEventListener("visibilitychange", hurry);

/** Another tab of this browser logged in: this one need not ask again. */
addEventListener("storage", (event) => {
  if (event.key !== PASS_KEY || event.newValue === null || phaseNow.peek() !== "login") return;
  if (sessionNow.peek() !== null) location.reload();
  else void begin();
});
