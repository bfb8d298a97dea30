// Keeps the rows of connected clients and devices: removes them when their socket closes, and closes sockets whose credential has
// expired. A crash or a lost batch may leave the row of a closed socket; the kernel finds those by `recordedSocketIds` and reports them as
// closed.

import type { DeviceAbsence } from "./devices/device-absence.ts";
import type { Part } from "./part.ts";
import type { Store } from "./store.ts";

export class Presence implements Part {
  readonly #store: Store;
  readonly #deviceAbsence: DeviceAbsence;

  constructor(store: Store, deviceAbsence: DeviceAbsence) {
    this.#store = store;
    this.#deviceAbsence = deviceAbsence;
  }

  /** The sockets that are open according to the rows. */
  recordedSocketIds(): ReadonlySet<string> {
    const { connections, devices } = this.#store.nouns;
    return new Set([...connections.listIds(), ...devices.connectionIds()]);
  }

  onSocketClosed(socketId: string): void {
    this.#store.relaxed((nouns) => {
      const { connections, followers, devices, emit, after, now } = nouns;
      connections.remove(socketId);
      followers.removeConnection(socketId);
      const device = devices.recordDisconnection(socketId, now);
      if (device === null) return;
      this.#deviceAbsence.onDeviceDisconnected(nouns, device);
      after(() => emit.sendDeviceStatus("disconnected", device, socketId));
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
