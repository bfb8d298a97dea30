// Registers the service worker that shows push messages (push-worker/push-worker.ts), and follows what it asks of the page.

import { go } from "../frame/route.ts";
import { isDesktopPath } from "../../../src/protocol/desktop-path.ts";
import type { WorkerMessage } from "../push-worker/worker-message.ts";
import { isPushedHere } from "./push-memory.ts";
import { phase, username } from "./session.ts";

const FILE = "/push-worker.js";

type Policy = { createScriptURL(url: string): string };
type TrustedTypes = { createPolicy(name: string, rules: Policy): Policy };

/** The content policy of the page allows to make the policy once. */
const TRUSTED = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("push-worker", { createScriptURL: () => FILE });

let registration: Promise<ServiceWorkerRegistration> | null = null;

/** The newest one: the browser asks for it each time the page is loaded. */
export function registerPushWorker(): Promise<ServiceWorkerRegistration> {
  registration ??= navigator.serviceWorker
    .register(TRUSTED?.createScriptURL(FILE) ?? FILE, { scope: "/", updateViaCache: "none" })
    .then(async (found) => {
      navigator.serviceWorker.addEventListener("message", answerWorker);
      await navigator.serviceWorker.ready;
      return found;
    });
  registration.catch(() => (registration = null));
  return registration;
}

/** The worker asks whether this page tells the user of what happens, or has it open what was pressed. It takes no answer for a no. */
function answerWorker({ data, ports }: MessageEvent<WorkerMessage>): void {
  if (phase.peek() !== "open" || !isPushedHere(username.peek())) return;
  if (data.ask === "open") {
    if (!isDesktopPath(data.path)) return;
    go(data.path);
  } else if (document.visibilityState !== "visible") return;
  ports[0]?.postMessage("yes");
}
