// How many things wait for a person, by the id of the screen on which they do. Shown in the bar wherever one is.

import { signal } from "@preact/signals";

export const badges = signal<Readonly<Record<string, number>>>({});

export function setBadge(screen: string, count: number): void {
  if ((badges.peek()[screen] ?? 0) !== count) badges.value = { ...badges.peek(), [screen]: count };
}
