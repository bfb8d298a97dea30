// Tells the owner of a device that it has been gone for a while, and takes that back when it returns. A device that only reconnects, or a
// laptop that is closed for a moment, is nothing to tell.

import { dismissAbout, notify } from "../notifications/notify.ts";
import type { WriteContext } from "../context.ts";
import type { Part } from "../part.ts";
import type { Store } from "../store.ts";

const KIND = "device-gone";
const GONE_MS = 10 * 60 * 1000;

export class DeviceAbsence implements Part {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Runs in the transaction that records it. */
  onDeviceDisconnected({ now, wakeBy }: WriteContext, key: string): void {
    const goneAt = now + GONE_MS;
    this.#store.nouns.timers.arm(KIND, key, goneAt);
    wakeBy(goneAt);
  }

  onDeviceConnected(key: string): void {
    const { devices } = this.#store.nouns;
    this.#store.attempt(() =>
      this.#store.relaxed((nouns) => {
        const device = devices.get(key);
        if (device !== undefined) forgetAbsence(nouns, device.ownerUid, key);
      }),
    );
  }

  onWake(now: number): void {
    const { timers, devices } = this.#store.nouns;
    if ((timers.nextDueAt(KIND) ?? Infinity) > now) return;
    this.#store.write((nouns) => {
      for (const key of timers.takeDue(KIND, now)) {
        const device = devices.get(key);
        if (device === undefined || device.online) continue;
        notify(nouns, device.ownerUid, {
          topic: "devices",
          title: `${device.deviceId} is offline`,
          body: "Agents cannot use it until it connects again.",
          level: "info",
          actions: [{ kind: "open", label: "Machines", target: "/machines" }],
          about: aboutDevice(key),
        });
      }
    });
  }

  nextDueAt(): number | null {
    return this.#store.nouns.timers.nextDueAt(KIND);
  }
}

/** The device is back, or is one no more. */
export function forgetAbsence(nouns: WriteContext, ownerUid: number, key: string): void {
  nouns.timers.cancel(KIND, key);
  dismissAbout(nouns, ownerUid, aboutDevice(key));
}

function aboutDevice(key: string): string {
  return `device:${key}`;
}
