// Short words that come and go at the edge of the screen: something was done, or could not be. What must not be missed
// belongs into the page itself.

import { signal } from "@preact/signals";

export type NoticeTone = "plain" | "good" | "bad";
export type Notice = { id: number; text: string; tone: NoticeTone; action: { title: string; run(): void } | null };

/** Long enough to be read; what went wrong stays until it is put away. */
const STAYS_MS = 6_000;
const AT_ONCE = 4;

export const notices = signal<readonly Notice[]>([]);
let last = 0;

export function notice(text: string, tone: NoticeTone = "plain", action: Notice["action"] = null): void {
  last += 1;
  const id = last;
  notices.value = [...notices.peek(), { id, text, tone, action }].slice(-AT_ONCE);
  if (tone !== "bad") setTimeout(() => putAway(id), STAYS_MS);
}

export function putAway(id: number): void {
  notices.value = notices.peek().filter((one) => one.id !== id);
}
