// Which connections and devices are there, as rows: they go with their socket, and when their credential expires. A crash or a
// lost batch may leave the row of a socket that is gone; the kernel finds those by `socketIds` and reports them as closed.

import type { Part } from "./part.ts";
import type { Store } from "./store.ts";

export class Presence implements Part {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Sockets that some row takes for open. */
  socketIds(): ReadonlySet<string> {
    const { connections, devices } = this.#store.nouns;
    return new Set([...connections.all(), ...devices.connectionIds()]);
  }

  socketClosed(socketId: string): void {
    this.#store.relaxed(({ connections, followers, devices, emit, after, now }) => {
      connections.remove(socketId);
      followers.connectionGone(socketId);
      const device = devices.disconnected(socketId, now);
      if (device !== null) after(() => emit.deviceStatus("disconnected", device, socketId));
    });
  }

  woke(now: number): void {
    const expired = this.#store.nouns.connections.expired(now);
    if (expired.length > 0) this.#store.write(({ connections }) => connections.close(expired, 1008, "Credential expired"));
  }

  nextDueAt(): number | null {
    return this.#store.nouns.connections.nextExpiryAt();
  }
}
