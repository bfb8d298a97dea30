// Somebody has just set this gateway up: what they are greeted with, once. Held in memory only, since the line that connects
// their first machine has a token in it.

import { signal } from "@preact/signals";

export type Arrival = {
  /** Who answers in chat: "demo" is no AI and knows a few requests only. */
  provider: string;
  /** The machine they wanted to connect, what lets it in, and how long it may take to come. */
  machine: { deviceId: string; token: string; worksUntil: number } | null;
};

export const arrival = signal<Arrival | null>(null);
