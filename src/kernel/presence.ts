// Keeps the rows of connected clients and devices: removes them when their socket closes, and closes sockets whose credential has
// expired. A crash or a lost batch may leave the row of a closed socket; the kernel finds those by `recordedSocketIds` and reports them as
// closed.

import type { Part } from "./part.ts";
import type { Store } from "./store.ts";

export class Presence implements Part {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The sockets that are open according to the rows. */
  recordedSocketIds(): ReadonlySet<string> {
    const { connections, devices } = this.#store.nouns;
    return new Set([...connections.listIds(), ...devices.connectionIds()]);
  }

  onSocketClosed(socketId: string): void {
    this.#store.relaxed(({ connections, followers, devices, emit, after, now }) => {
      connections.remove(socketId);
      followers.removeConnection(socketId);
      const device = devices.recordDisconnection(socketId, now);
      if (device !== null) after(() => emit.sendDeviceStatus("disconnected", device, socketId));
    });
  }

  onWake(now: number): void {
    const expired = this.#store.nouns.connections.listExpired(now);
    if (expired.length > 0) this.#store.write(({ connections }) => connections.close(expired, 1008, "Credential expired"));
  }

  nextDueAt(): number | null {
    return this.#store.nouns.connections.nextExpiryAt();
  }
}
