// Installing GSV as an app: whether it is one here, and the action for it.

import { registerActions } from "../frame/actions.ts";
import { go } from "../frame/route.ts";
import { installOffer } from "../state/install-offer.ts";

/** Whether this page is the installed app, and not a tab of a browser. */
export function isInstalledApp(): boolean {
  return matchMedia("(display-mode: standalone)").matches || (navigator as { standalone?: boolean }).standalone === true;
}

/** Call it from a click. Without an offer of the browser, Settings says what to do. */
export async function installApp(): Promise<void> {
  const offer = installOffer.peek();
  if (offer === null) return go("/settings/account");
  installOffer.value = null;
  await offer.prompt();
}

/** Returns a function that removes it. */
export function offerInstallation(): () => void {
  if (isInstalledApp()) return () => {};
  const action = {
    id: "install",
    title: "Install app",
    group: "General",
    words: "pwa home screen phone desktop",
    run: () => void installApp(),
  };
  const unregister = registerActions([action]);
  const forget = () => (installOffer.value = null);
  addEventListener("appinstalled", forget);
  return () => {
    removeEventListener("appinstalled", forget);
    unregister();
  };
}
