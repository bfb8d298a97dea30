// Loads the code of screens while the browser is idle, so that they open at once, also while the gateway is unreachable.

import { SCREENS } from "../screens/screens.ts";

type BrowserGlobals = { requestIdleCallback?: (run: () => void) => number; navigator: { connection?: { saveData?: boolean } } };

/** Does nothing in data saver mode. A screen that cannot be loaded now is loaded when it is shown. */
export function prefetchScreens(overlays: readonly (() => Promise<unknown>)[]): void {
  const { requestIdleCallback = (run) => setTimeout(run, 1_000), navigator } = globalThis as BrowserGlobals;
  if (navigator.connection?.saveData === true) return;
  requestIdleCallback(() => {
    for (const { inBar, load } of SCREENS) if (inBar) load().catch(() => {});
    for (const load of overlays) load().catch(() => {});
  });
}
