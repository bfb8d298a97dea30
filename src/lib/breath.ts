// A turn for everybody else. Awaiting what is there already gives nobody one.

type Immediate = (callback: () => void) => unknown;

/** Where the platform has it: a timer waits for a millisecond at least. */
const { setImmediate: soon = (callback) => setTimeout(callback, 0) } = globalThis as { setImmediate?: Immediate };

/** Several turns: for so long. */
export function rest(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

export function breath(): Promise<void> {
  return new Promise((resolve) => void soon(resolve));
}
