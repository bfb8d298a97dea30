// The service worker of the desktop. It shows push messages of the gateway as notifications, opens the right place when one is pressed, and
// answers questions from their buttons. It does nothing else: it sees no request of the page and caches nothing, so that no old desktop
// ever stands before a newer gateway. The build makes it one file of its own (tools/web.mjs).

import type { PushAnswer, PushPayload } from "../../../src/protocol/push-message.ts";
import { isDesktopPath } from "../../../src/protocol/desktop-path.ts";
import { PUSH_ANSWER_PATH } from "../../../src/protocol/push-message.ts";
import type { WorkerMessage } from "./worker-message.ts";
import type { NotificationEvent, Page, PushEvent, WorkerScope } from "./worker-scope.ts";

/** What a notification must know when it is pressed. */
type Data = { path: string; question?: PushPayload["question"] };

const ANSWER_MS = 300;
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
  const { notificationId, title, body, level, createdAt, question, path } = payload;
  // A test is shown in any case.
  if (notificationId !== null && (await isToldByPage())) return;
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

/** Whether a page is in front that tells of it itself. Safari requires that every message is shown. */
async function isToldByPage(): Promise<boolean> {
  const { userAgent } = scope.navigator;
  if (/Safari\//.test(userAgent) && !/Chrom(?:e|ium)\//.test(userAgent)) return false;
  const inFront = (await listPages()).filter(({ focused }) => focused);
  return (await Promise.all(inFront.map((page) => ask(page, { ask: "tell" })))).includes(true);
}

async function onPress({ action, notification }: NotificationEvent): Promise<void> {
  const { path, question } = notification.data as Data;
  notification.close();
  const answer = question?.answers.find(({ decision }) => decision === action);
  if (question === undefined || answer === undefined) return open(path);
  const problem = await sendAnswer({ ...question, ...answer });
  if (problem !== null) await notify(`${problem.title}: ${notification.title}`, problem.text, { data: { path } });
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
    return { title: decision === "deny" ? "Not denied" : "Not allowed", text: `${error.message}.` };
  } catch {
    return {
      title: "No answer from GSV",
      text: `It is not known whether this was ${decision === "deny" ? "denied" : "allowed"}. Open GSV to see.`,
    };
  }
}

async function open(path: string): Promise<void> {
  for (const page of await listPages())
    if (await ask(page, { ask: "open", path })) {
      // Browsers allow it only for a short time after the press.
      await page.focus().catch(() => {});
      return;
    }
  await scope.clients.openWindow(path);
}

/** Whether the page agrees, which it must soon: it may have lost its connection, or be no page of the desktop. */
function ask(page: Page, message: WorkerMessage): Promise<boolean> {
  const { port1, port2 } = new MessageChannel();
  return new Promise<boolean>((resolve) => {
    port1.addEventListener("message", () => resolve(true));
    port1.start();
    setTimeout(() => resolve(false), ANSWER_MS);
    page.postMessage(message, [port2]);
  }).finally(() => port1.close());
}

function listPages() {
  return scope.clients.matchAll({ type: "window", includeUncontrolled: true });
}

function notify(title: string, body: string, options: { data: Data; [name: string]: unknown }): Promise<void> {
  return scope.registration.showNotification(title, { body, lang: "en", dir: "ltr", ...options });
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
