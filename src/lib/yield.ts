// Yields to the event loop. Awaiting a settled promise does not.

type Immediate = (callback: () => void) => unknown;

/** Where the platform has it: a timer waits for a millisecond at least. */
const { setImmediate: soon = (callback) => setTimeout(callback, 0) } = globalThis as { setImmediate?: Immediate };

export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => void soon(resolve));
}

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
