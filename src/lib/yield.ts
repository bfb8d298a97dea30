// Yields to the event loop. Awaiting a settled promise does not.

type Immediate = (callback: () => void) => unknown;

/** If the platform has setImmediate: a timer takes at least a millisecond. */
const { setImmediate: schedule = (callback) => setTimeout(callback, 0) } = globalThis as { setImmediate?: Immediate };

export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => void schedule(resolve));
}

/** Resolves after this many milliseconds. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
