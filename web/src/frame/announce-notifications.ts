// Counts unread notifications in the bar, and shows a notice of a new one on every screen but theirs. Questions are announced by
// announce-questions.ts.

import { effect } from "@preact/signals";
import { makeVisible } from "../../../src/approval/visible.ts";
import { type Notice, followNotifications, interrupts, unreadCount } from "../state/notifications.ts";
import { readPushMemory } from "../state/push-memory.ts";
import { showNotice } from "../state/notices.ts";
import { setBadge } from "./badges.ts";
import { address, go } from "./route.ts";

/** A notice is short: the whole text is on the screen. */
const TITLE_CHARS_MAX = 100;

export function announceNotifications(): () => void {
  const stops = [followPushIfOn(), followNotifications(announce), effect(() => setBadge("notifications", unreadCount.value))];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Few browsers have it turned on, so its code is loaded only there. */
function followPushIfOn(): () => void {
  if (readPushMemory() === null) return () => {};
  let stop = () => {};
  let isStopped = false;
  void import("../state/push.ts").then(({ followPush }) => {
    if (!isStopped) stop = followPush();
  });
  return () => {
    isStopped = true;
    stop();
  };
}

function announce(notice: Notice): void {
  const { source, title, level } = notice;
  if (!interrupts(notice)) return;
  if (source.kind === "kernel" && (source.topic === "approvals" || source.topic === "budgets")) return;
  const { main, beside } = address.peek();
  if ([main, beside].some((path) => path?.startsWith("/notifications") === true)) return;
  const text = makeVisible(title).slice(0, TITLE_CHARS_MAX);
  const tone = level === "error" || level === "warning" ? "bad" : level === "success" ? "good" : "plain";
  showNotice(text, tone, { title: "View", run: () => go("/notifications") });
}
