// Push messages to this browser: whether they are on, and how they are turned on and off. Loaded when they are on, or when somebody looks at
// the settings.

import { effect, signal } from "@preact/signals";
import { toBase64Url } from "../../../src/lib/base64.ts";
import { browserLabel, readBrowserToken } from "./browser-token.ts";
import { BrowserRefusal, call, type Result } from "./call.ts";
import { isPushedHere, type PushChoice, readPushMemory, writePushMemory } from "./push-memory.ts";
import { registerPushWorker } from "./push-worker.ts";
import { client, connectionCount, mayCall, username } from "./session.ts";

/**
 * `insecure`: browsers allow it only over https or on the gateway's own machine. `impossible`: the browser has no push, or none yet, as
 * Safari on a telephone until the page is on the home screen. `blocked`: the user has told the browser so.
 */
export type PushState = "insecure" | "impossible" | "blocked" | "off" | "on";
export type Subscription = Result<"notification.push.list">["subscriptions"][number];

const REGISTER_MS = 30_000;

export const pushState = signal<PushState>(readState());

/** Throws an error that says why it did not work. Call it from a click: browsers ignore the request otherwise. */
export async function turnOnPush(): Promise<void> {
  const permission = await Notification.requestPermission();
  if (permission !== "granted") {
    pushState.value = readState();
    throw new BrowserRefusal("The browser was not allowed to show notifications. Allow it in the settings of this site, and try again.");
  }
  const registration = await registerPushWorker();
  await tellGateway(await subscribe(registration.pushManager));
  pushState.value = "on";
}

export async function turnOffPush(subscriptions: readonly Subscription[]): Promise<void> {
  const current = subscriptions.find(({ isCurrent }) => isCurrent);
  await forgetPush();
  if (current !== undefined) await call("notification.push.unsubscribe", { subscriptionId: current.subscriptionId });
}

/** Of this browser; the gateway is told, or finds out, by itself. Also what is shown goes. */
export async function forgetPush(): Promise<void> {
  writePushMemory(null);
  pushState.value = readState();
  const registration = await navigator.serviceWorker.getRegistration();
  for (const shown of (await registration?.getNotifications()) ?? []) shown.close();
  const subscription = await registration?.pushManager.getSubscription();
  await subscription?.unsubscribe();
}

/** Renews the subscription of this browser where the gateway does not have it any more. Returns a function that stops it. */
export function followPush(): () => void {
  return effect(() => {
    if (connectionCount.value === 0 || client.value === null || !mayCall("notification.push.list")) return;
    // The browser may refuse for many reasons, and the settings say whether it is on.
    void renew().catch(() => {});
  });
}

/** Takes back what the system shows of a notification that was read or dismissed elsewhere. */
export async function closeShown(notificationId: string): Promise<void> {
  if (pushState.peek() !== "on") return;
  const registration = await navigator.serviceWorker.getRegistration();
  for (const shown of (await registration?.getNotifications({ tag: notificationId })) ?? []) shown.close();
}

async function renew(): Promise<void> {
  if (readState() !== "on") return;
  const memory = readPushMemory()!;
  const registration = await registerPushWorker();
  const [present, { publicKey }, { subscriptions }] = await Promise.all([
    registration.pushManager.getSubscription(),
    call("notification.push.key", {}),
    call("notification.push.list", {}),
  ]);
  const isSame = present?.endpoint === memory.endpoint && isMadeWith(present, publicKey) && readBrowserToken()?.tokenId === memory.tokenId;
  if (!isSame) await tellGateway(await subscribe(registration.pushManager));
  // It was removed on another device, or its push service has given it up.
  else if (!subscriptions.some(({ isCurrent }) => isCurrent)) return forgetPush();
  pushState.value = "on";
}

async function subscribe(manager: PushManager): Promise<PushSubscription> {
  const { publicKey } = await call("notification.push.key", {});
  const present = await manager.getSubscription();
  // Who was signed in here before knows the keys of their subscription.
  if (present !== null && isMadeWith(present, publicKey) && isPushedHere(username.peek())) return present;
  await present?.unsubscribe();
  try {
    return await Promise.race([manager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey }), failLater()]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BrowserRefusal(
      `The browser could not register with its push service. That needs the Internet; some browsers turn it off in their settings, and in private windows. It says: ${why}.`,
      { cause: error },
    );
  }
}

/** Some browsers never say that their push service cannot be reached. */
function failLater(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`the push service has not answered for ${REGISTER_MS / 1000} seconds`)), REGISTER_MS);
  });
}

function isMadeWith({ options }: PushSubscription, publicKey: string): boolean {
  return toBase64Url(new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0))) === publicKey;
}

async function tellGateway(subscription: PushSubscription): Promise<void> {
  const { endpoint, keys } = subscription.toJSON();
  if (endpoint === undefined || keys?.p256dh === undefined || keys.auth === undefined)
    throw new BrowserRefusal("The browser gave no keys for push messages. Try another browser.");
  const address = { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } };
  // The gateway has forgotten them if the sign-in had ended.
  const chosen = isPushedHere(username.peek()) ? readPushMemory()!.choice : {};
  const { subscription: stored } = await call("notification.push.subscribe", { ...address, label: browserLabel(), ...chosen });
  const { level, mayAllow } = stored;
  const tokenId = readBrowserToken()?.tokenId ?? "";
  writePushMemory({ username: username.peek(), endpoint, tokenId, choice: { level, mayAllow } });
}

/** What is pushed to this browser, and whether it may allow: also for when it has to subscribe again. */
export async function choosePush(subscriptionId: string, choice: Partial<PushChoice>): Promise<void> {
  const { subscription } = await call("notification.push.update", { subscriptionId, ...choice });
  const memory = readPushMemory();
  const { level, mayAllow } = subscription;
  if (memory !== null) writePushMemory({ ...memory, choice: { level, mayAllow } });
}

function readState(): PushState {
  if (!globalThis.isSecureContext) return "insecure";
  if (!("serviceWorker" in navigator) || !("PushManager" in globalThis) || !("Notification" in globalThis)) return "impossible";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && isPushedHere(username.peek()) ? "on" : "off";
}
