/** The result of some work, or `late` after `ms`; then the signal that the work was given is aborted, as it is when `signal` is. */
export async function withTimeout<T>(ms: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>, late: T): Promise<T> {
  const timeout = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<T>((resolve) => {
    timer = setTimeout(() => {
      timeout.abort(null);
      resolve(late);
    }, ms);
  });
  try {
    return await Promise.race([work(AbortSignal.any([signal, timeout.signal])), expired]);
  } finally {
    clearTimeout(timer);
  }
}
