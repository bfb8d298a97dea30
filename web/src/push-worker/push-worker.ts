// The service worker of the desktop. It shows push messages of the gateway as notifications, opens the right place when one is pressed, and
// answers questions from their buttons. It does nothing else: it sees no request of the page and caches nothing, so that no old desktop
// ever stands before a newer gateway. The build makes it one file of its own (tools/web.mjs).

import type { PushAnswer, PushPayload } from "../../../src/protocol/push-message.ts";
import { isDesktopPath } from "../../../src/protocol/desktop-path.ts";
import { PUSH_ANSWER_PATH } from "../../../src/protocol/push-message.ts";
import type { NotificationEvent, PushEvent, WorkerScope } from "./worker-scope.ts";

/** What a notification must know when it is pressed. */
type Data = { path: string; question?: PushPayload["question"] };

const FALLBACK: Data = { path: "/notifications" };

const scope = globalThis as unknown as WorkerScope;

// A newer worker takes over at once: there is nothing that the older one still does.
scope.addEventListener("install", (event) => event.waitUntil(scope.skipWaiting()));
scope.addEventListener("activate", (event) => event.waitUntil(scope.clients.claim()));
scope.addEventListener("push", (event) => event.waitUntil(show(event)));
scope.addEventListener("notificationclick", (event) => event.waitUntil(onPress(event)));

async function show({ data }: PushEvent): Promise<void> {
  const payload = parsePayload(data?.text());
  if (payload === null) return notify("GSV", "Something has happened. Open GSV to see what.", { data: FALLBACK });
  if (await isPageInFront()) return;
  const { notificationId, title, body, level, createdAt, question, path } = payload;
  await notify(title, body, {
    data: { path, ...(question === undefined ? {} : { question }) },
    timestamp: createdAt,
    // A question waits until somebody decides.
    requireInteraction: question !== undefined || level === "error",
    actions: question === undefined ? [] : makeActions(question.answers),
    // The same message never shows twice.
    ...(notificationId === null ? {} : { tag: notificationId }),
  });
}

/** Systems show two buttons. */
function makeActions(answers: readonly PushAnswer[]): { action: string; title: string }[] {
  const buttons = answers.map(({ decision, label }) => ({ action: decision as string, title: label }));
  return answers.some(({ decision }) => decision === "approve") ? buttons : [{ action: "open", title: "Review" }, ...buttons];
}

/** The page tells of it then. Safari requires that every message is shown. */
async function isPageInFront(): Promise<boolean> {
  const { userAgent } = scope.navigator;
  if (/Safari\//.test(userAgent) && !/Chrom(?:e|ium)\//.test(userAgent)) return false;
  return (await listPages()).some(({ focused }) => focused);
}

async function onPress({ action, notification }: NotificationEvent): Promise<void> {
  const { path, question } = notification.data as Data;
  notification.close();
  const answer = question?.answers.find(({ decision }) => decision === action);
  if (question === undefined || answer === undefined) return open(path);
  const problem = await sendAnswer({ ...question, ...answer });
  if (problem !== null)
    await notify(`Not ${answer.decision === "deny" ? "denied" : "allowed"}: ${notification.title}`, problem, { data: { path } });
}

/** Null if the gateway has accepted it. */
async function sendAnswer({ subscriptionId, requestId, decision, proof }: PushAnswer & { subscriptionId: string; requestId: string }) {
  try {
    const response = await fetch(PUSH_ANSWER_PATH, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ subscriptionId, requestId, decision, proof }),
    });
    if (response.ok) return null;
    const { error } = (await response.json()) as { error: { message: string } };
    return `${error.message}.`;
  } catch {
    return "The gateway cannot be reached. Open GSV to answer.";
  }
}

async function open(path: string): Promise<void> {
  const [page] = await listPages();
  if (page === undefined) return void (await scope.clients.openWindow(path));
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a page of our own, not a window
  page.postMessage({ open: path });
  // Browsers allow it only for a short time after the press.
  await page.focus().catch(() => {});
}

function listPages() {
  return scope.clients.matchAll({ type: "window", includeUncontrolled: true });
}

function notify(title: string, body: string, options: { data: Data; [name: string]: unknown }): Promise<void> {
  return scope.registration.showNotification(title, { body, lang: "en", ...options });
}

/** Null for what a newer gateway may send. */
function parsePayload(text: string | undefined): PushPayload | null {
  try {
    const payload = JSON.parse(text ?? "") as PushPayload;
    return payload.version === 1 && isDesktopPath(payload.path) ? payload : null;
  } catch {
    return null;
  }
}
