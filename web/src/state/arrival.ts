// What the greeting shows, once, to a user who has just set up this gateway. Held in memory only, because the install line of
// their first machine contains a token.

import { signal } from "@preact/signals";

export type Arrival = {
  /** The model provider. "demo" is not an AI: it understands only a few requests. */
  provider: string;
  /** The machine to connect, its token, and until when the machine can use the token for the first time. */
  machine: { deviceId: string; token: string; usableUntil: number } | null;
};

export const arrival = signal<Arrival | null>(null);
