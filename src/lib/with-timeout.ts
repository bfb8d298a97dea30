/**
 * The result of some work, or `late.value` after `ms`; then the signal that the work was given is aborted with `late.reason`, as it is when
 * `signal` is.
 */
export async function withTimeout<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  late: { value: T; reason: unknown },
): Promise<T> {
  // Not AbortSignal.any, which takes longer than most work here.
  const stopping = new AbortController();
  const stop = () => stopping.abort(signal.reason);
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<T>((resolve) => {
    timer = setTimeout(() => {
      stopping.abort(late.reason);
      resolve(late.value);
    }, ms);
  });
  try {
    return await Promise.race([work(stopping.signal), expired]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
