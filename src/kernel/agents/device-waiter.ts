// A device that was online a moment ago often reconnects within seconds, as laptops do. An agent's call waits for that and is then
// sent again with the same key, instead of ending with an unknown outcome. People see that their machine is offline and decide
// themselves; an agent would continue with wrong assumptions.

import { SysError } from "../../lib/sys-error.ts";
import { earliestOf, type Part } from "../part.ts";
import type { Store } from "../store.ts";

type Waiter = { deviceId: string; dueAt: number; end: () => void };

/** How long a call waits for a device, and how recently the device must have been online for that. */
const WAIT_MS = 20_000;
const RECENT_MS = 5 * 60_000;

export class DeviceWaiter implements Part {
  readonly #store: Store;
  readonly #waiters = new Set<Waiter>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Retries `send` while the device may come back. The call runs at most once: it has a key, or the first try sent nothing. */
  async run<T>(deviceId: string, send: (isRepeat: boolean) => Promise<T>, signal: AbortSignal): Promise<T> {
    const until = this.#store.reads.now + WAIT_MS;
    for (let isRepeat = false; ; isRepeat = true) {
      try {
        return await send(isRepeat);
      } catch (error) {
        if (!isAwayError(error) || signal.aborted || !this.#mayComeBack(deviceId) || this.#store.reads.now >= until) throw error;
        await this.#waitForDevice(deviceId, until, signal);
        if (signal.aborted || !this.#isOnline(deviceId)) throw error;
      }
    }
  }

  /** A device has connected: calls that wait for it are sent again. */
  onDeviceConnected(deviceId: string): void {
    for (const waiter of this.#waiters) if (waiter.deviceId === deviceId) waiter.end();
  }

  onWake(now: number): void {
    for (const waiter of this.#waiters) if (waiter.dueAt <= now) waiter.end();
  }

  nextDueAt(): number | null {
    return earliestOf([...this.#waiters].map(({ dueAt }) => dueAt));
  }

  #mayComeBack(deviceId: string): boolean {
    const device = this.#store.reads.devices.get(deviceId);
    return device !== undefined && (device.online || this.#store.reads.now - device.lastSeenAt < RECENT_MS);
  }

  #isOnline(deviceId: string): boolean {
    return this.#store.reads.devices.get(deviceId)?.online === true;
  }

  #waitForDevice(deviceId: string, dueAt: number, signal: AbortSignal): Promise<void> {
    if (this.#isOnline(deviceId)) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        this.#waiters.delete(waiter);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const waiter: Waiter = { deviceId, dueAt, end };
      this.#waiters.add(waiter);
      signal.addEventListener("abort", end, { once: true });
      this.#store.wakeBy(dueAt);
    });
  }
}

/** The device is offline, or disconnected during the call. */
function isAwayError(error: unknown): boolean {
  return (
    error instanceof SysError && error.code === 503 && /^(?:Device offline|Device disconnected|No active connection)/.test(error.message)
  );
}
