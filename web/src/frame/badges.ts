// How many items need the user's attention, by screen id. Shown in the bar.

import { signal } from "@preact/signals";

export const badges = signal<Readonly<Record<string, number>>>({});

export function setBadge(screen: string, count: number): void {
  if ((badges.peek()[screen] ?? 0) !== count) badges.value = { ...badges.peek(), [screen]: count };
}
