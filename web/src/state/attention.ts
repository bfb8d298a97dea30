// The questions that wait for whoever is logged in: one list for the whole page, from which the bar, the title, notices and the
// screen of approvals all take what they show. Read while the frame is there, again with every change and reconnection.

import { computed, effect, signal } from "@preact/signals";
import { HIL_REQUESTED } from "../../../src/protocol/signal-names.ts";
import { call, type Result, sentence } from "./call.ts";
import { hears } from "./refetch-on.ts";
import { Latest } from "./latest.ts";
import { client, connected, may, session } from "./session.ts";
import { store, stored } from "./stored.ts";

export type Approvals = Result<"proc.approval.list">;
export type Pending = Approvals["pending"][number];

const NOTICES_KEY = "gsv.notices";
const isOfThis = hears("approvals", "grants");

export const approvals = new Latest<Approvals>(() => call("proc.approval.list", {}), sentence);

/** One's own, oldest first. Root is shown those of others as well, and not called to them. */
export const ownQuestions = computed<readonly Pending[]>(() => {
  const uid = session.value?.identity.process.uid;
  return (approvals.value.value?.pending ?? []).filter((one) => one.uid === uid);
});

export const waiting = computed(() => ownQuestions.value.length);

/** Returns the way to stop. */
export function followApprovals(): () => void {
  return effect(() => {
    if (connected.value === 0 || !may("proc.approval.list")) return;
    void approvals.refetch();
    return client.value?.onSignal((sent) => {
      if (isOfThis(sent) || sent.signal === HIL_REQUESTED) void approvals.refetch();
    });
  });
}

/** Whether the browser shows notices while nobody looks at the page: only after it was asked to, here. */
export type Notices = "off" | "on" | "blocked" | "impossible";

export const browserNotices = signal<Notices>(noticesNow());

/** Called from a press, as browsers want it. */
export async function askForNotices(): Promise<void> {
  if (!("Notification" in globalThis)) return;
  const answer = await Notification.requestPermission();
  store(NOTICES_KEY, answer === "granted" ? "on" : null);
  browserNotices.value = noticesNow();
}

export function stopNotices(): void {
  store(NOTICES_KEY, null);
  browserNotices.value = noticesNow();
}

function noticesNow(): Notices {
  if (!("Notification" in globalThis)) return "impossible";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && stored(NOTICES_KEY) === "on" ? "on" : "off";
}
