// The browser's offer to install GSV as an app. It comes once, soon after the page has loaded, so main.tsx imports this file.

import { signal } from "@preact/signals";

/** Not in the types of the DOM: only Chromium has it. It can be used once. */
export type InstallOffer = Event & { prompt(): Promise<{ outcome: "accepted" | "dismissed" }> };

export const installOffer = signal<InstallOffer | null>(null);

addEventListener("beforeinstallprompt", (event) => {
  // Chromium would show a bar of its own over the page.
  event.preventDefault();
  installOffer.value = event as InstallOffer;
});
