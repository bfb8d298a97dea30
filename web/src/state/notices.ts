// Short messages (toasts) in a corner of the page: something succeeded or failed. What a user must not miss belongs in the page
// itself. ui/toasts.tsx shows them.

import { signal } from "@preact/signals";

export type NoticeTone = "plain" | "good" | "bad";
export type Notice = { id: number; text: string; tone: NoticeTone; action: { title: string; run(): void } | null };

/** Long enough to read. Errors stay until the user dismisses them. */
const VISIBLE_MS = 6_000;
const VISIBLE_MAX = 4;

export const notices = signal<readonly Notice[]>([]);
let lastId = 0;

export function showNotice(text: string, tone: NoticeTone = "plain", action: Notice["action"] = null): void {
  postNotice(text, tone, action);
}

/** Returns its id, for dismissNotice. */
export function postNotice(text: string, tone: NoticeTone, action: Notice["action"]): number {
  lastId += 1;
  const id = lastId;
  notices.value = [...notices.peek(), { id, text, tone, action }].slice(-VISIBLE_MAX);
  if (tone !== "bad") setTimeout(() => dismissNotice(id), VISIBLE_MS);
  return id;
}

export function dismissNotice(id: number): void {
  notices.value = notices.peek().filter((one) => one.id !== id);
}
