// What the welcome dialog shows: once after set-up, once to a user whom an administrator added, and whenever the user asks for it.
// Held in memory only, because the install command of a first machine contains a token.

import { signal } from "@preact/signals";

/** The machine to connect, its token, and until when the machine can use the token for the first time. */
export type ArrivalMachine = { deviceId: string; token: string; usableUntil: number };

export type Arrival = { page: "start"; machine: ArrivalMachine | null; hasSameRootPassword?: boolean } | { page: "new user" };

export const arrival = signal<Arrival | null>(null);

/** First steps, without a machine that waits to be connected. */
export function showStart(): void {
  arrival.value = { page: "start", machine: null };
}
