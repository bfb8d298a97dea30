// Registers the service worker that shows push messages (push-worker/push-worker.ts), and follows what it asks of the page.

import { go } from "../frame/route.ts";
import { isDesktopPath } from "../../../src/protocol/desktop-path.ts";

const FILE = "/push-worker.js";

type Policy = { createScriptURL(url: string): string };
type TrustedTypes = { createPolicy(name: string, rules: Policy): Policy };

let registration: Promise<ServiceWorkerRegistration> | null = null;

/** The newest one: the browser asks for it each time the page is loaded. */
export function registerPushWorker(): Promise<ServiceWorkerRegistration> {
  registration ??= navigator.serviceWorker.register(trustedUrl(), { scope: "/", updateViaCache: "none" }).then(async (found) => {
    navigator.serviceWorker.addEventListener("message", openPath);
    await navigator.serviceWorker.ready;
    return found;
  });
  registration.catch(() => (registration = null));
  return registration;
}

/** The content policy of the page allows this one script as a worker, and no other text. */
function trustedUrl(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  return trustedTypes === undefined
    ? FILE
    : trustedTypes.createPolicy("push-worker", { createScriptURL: () => FILE }).createScriptURL(FILE);
}

/** A notification was pressed. */
function openPath({ data }: MessageEvent<unknown>): void {
  const { open } = (data ?? {}) as { open?: unknown };
  if (typeof open === "string" && isDesktopPath(open)) go(open);
}
