// A device that was just there comes back within seconds, as laptops do. An agent's call waits for that, and is then asked
// after by its key, instead of ending as something nobody knows. People see that their machine is away and decide themselves;
// an agent would go on with a wrong idea of the world.

import { SysError } from "../../lib/sys-error.ts";
import { earliest, type Part } from "../part.ts";
import type { Store } from "../store.ts";

type Waiter = { deviceId: string; dueAt: number; end: () => void };

/** How long one is waited for, and how lately it must have been there for that. */
const WAIT_MS = 20_000;
const LATELY_MS = 5 * 60_000;

export class DeviceWaiter implements Part {
  readonly #store: Store;
  readonly #waiting = new Set<Waiter>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** `send` again, for as long as the device may come back; its key, or that nothing was sent, makes it one call. */
  async run<T>(deviceId: string, send: (isAgain: boolean) => Promise<T>, signal: AbortSignal): Promise<T> {
    const until = this.#store.reads.now + WAIT_MS;
    for (let isAgain = false; ; isAgain = true) {
      try {
        return await send(isAgain);
      } catch (error) {
        if (!isAway(error) || signal.aborted || !this.#mayComeBack(deviceId) || this.#store.reads.now >= until) throw error;
        await this.#back(deviceId, until, signal);
        if (signal.aborted || !this.#isOnline(deviceId)) throw error;
      }
    }
  }

  /** A device has connected. */
  came(deviceId: string): void {
    for (const waiter of this.#waiting) if (waiter.deviceId === deviceId) waiter.end();
  }

  woke(now: number): void {
    for (const waiter of this.#waiting) if (waiter.dueAt <= now) waiter.end();
  }

  nextDueAt(): number | null {
    return earliest([...this.#waiting].map(({ dueAt }) => dueAt));
  }

  #mayComeBack(deviceId: string): boolean {
    const device = this.#store.reads.devices.get(deviceId);
    return device !== undefined && (device.online || this.#store.reads.now - device.lastSeenAt < LATELY_MS);
  }

  #isOnline(deviceId: string): boolean {
    return this.#store.reads.devices.get(deviceId)?.online === true;
  }

  #back(deviceId: string, dueAt: number, signal: AbortSignal): Promise<void> {
    if (this.#isOnline(deviceId)) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        this.#waiting.delete(waiter);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const waiter: Waiter = { deviceId, dueAt, end };
      this.#waiting.add(waiter);
      signal.addEventListener("abort", end, { once: true });
      this.#store.wakeBy(dueAt);
    });
  }
}

/** It is not there, or went while it was asked. */
function isAway(error: unknown): boolean {
  return (
    error instanceof SysError && error.code === 503 && /^(?:Device offline|Device disconnected|No active connection)/.test(error.message)
  );
}
