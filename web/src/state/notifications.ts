// The notifications of the logged-in user: one list for the whole page, shown by the bar and the Notifications screen. It is read while
// the frame is mounted, and refetched on every change and reconnect.

import { computed, effect } from "@preact/signals";
import { NOTIFICATION_CREATED, NOTIFICATION_DISMISSED, NOTIFICATION_UPDATED } from "../../../src/protocol/signal-names.ts";
import { call, describeError, type Result } from "./call.ts";
import { originOf, reaches } from "../../../src/protocol/notification-levels.ts";
import { readPushMemory } from "./push-memory.ts";
import { makeChangeFilter } from "./refetch-on.ts";
import { Latest } from "./latest.ts";
import { client, connectionCount, mayCall } from "./session.ts";

export type Notice = Result<"notification.list">["notifications"][number];

const SHOWN_MAX = 200;

export const notifications = new Latest<Result<"notification.list">>(() => call("notification.list", { limit: SHOWN_MAX }), describeError);

export const unreadCount = computed(() => notifications.value.value?.unreadCount ?? 0);

const SIGNALS: ReadonlySet<string> = new Set([NOTIFICATION_CREATED, NOTIFICATION_UPDATED, NOTIFICATION_DISMISSED]);

/** What interrupts the user: null until it was read. */
export const notificationLevels = new Latest<Result<"notification.settings.get">>(
  () => call("notification.settings.get", {}),
  describeError,
);

const onLevels = makeChangeFilter("push");

/** Whether a notice in the page may tell of it. */
export function interrupts({ source, level }: Notice): boolean {
  const levels = notificationLevels.value.peek()?.levels;
  return levels === undefined || reaches(level, levels[originOf(source)]);
}

/** `onCreated` is called for each new notification. Returns a function that stops it. */
export function followNotifications(onCreated: (notice: Notice) => void): () => void {
  return effect(() => {
    if (connectionCount.value === 0 || !mayCall("notification.list")) return;
    void notifications.refetch();
    if (mayCall("notification.settings.get")) void notificationLevels.refetch();
    return client.value?.onSignal((sent) => {
      if (onLevels(sent)) void notificationLevels.refetch();
      if (!SIGNALS.has(sent.signal)) return;
      void notifications.refetch();
      if (sent.signal === NOTIFICATION_CREATED) onCreated(sent.payload.notification);
      else if (sent.signal === NOTIFICATION_UPDATED || sent.signal === NOTIFICATION_DISMISSED) takeBack(sent.payload.notification);
    });
  });
}

/** The system may show it, because it was pushed. */
function takeBack({ notificationId }: Notice): void {
  if (readPushMemory() !== null) void import("./push.ts").then(({ closeShown }) => closeShown(notificationId));
}

export async function markRead(notice: Notice): Promise<void> {
  if (notice.readAt === null) await call("notification.mark_read", { notificationId: notice.notificationId });
}

export async function dismiss(notice: Notice): Promise<void> {
  await call("notification.dismiss", { notificationId: notice.notificationId });
}
