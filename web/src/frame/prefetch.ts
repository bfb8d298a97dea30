// Screens are fetched when nothing else is to do, so that going to one is instant and needs no gateway.

import { SCREENS } from "../screens/screens.ts";

type Browser = { requestIdleCallback?: (run: () => void) => number; navigator: { connection?: { saveData?: boolean } } };

/** Not where somebody pays for every byte. One that cannot be fetched now is fetched when it is shown. */
export function fetchAhead(): void {
  const { requestIdleCallback = (run) => setTimeout(run, 1_000), navigator } = globalThis as Browser;
  if (navigator.connection?.saveData === true) return;
  requestIdleCallback(() => {
    for (const { inBar, load } of SCREENS) if (inBar) load().catch(() => {});
  });
}
