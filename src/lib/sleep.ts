// Waiting that can be cut short. For hosts, clients and tests: kernel code asks the Clock.

export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    const cut = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", cut, { once: true });
  });
}
