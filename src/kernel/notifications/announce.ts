// Tells a user's clients of a new notification, inside the transaction that creates it, and queues push messages to the browsers of theirs
// that want it (push/push.ts sends them).

import type { NotificationRecord } from "../../protocol/notification-records.ts";
import { NOTIFICATION_CREATED } from "../../protocol/signal-names.ts";
import type { WriteContext } from "../context.ts";
import { isQuestion, originOf, reaches } from "../../protocol/notification-levels.ts";
import { type PushPriority, QUESTION_PRIORITY } from "../nouns/push-subscriptions.ts";

export type AnnounceNouns = Pick<WriteContext, "notificationLevels" | "pushSubscriptions" | "emit" | "after" | "wakeBy" | "now">;

export function announceNotification(nouns: AnnounceNouns, uid: number, notification: NotificationRecord): void {
  const { emit, after } = nouns;
  after(() => emit.sendNotification(uid, NOTIFICATION_CREATED, notification));
  queuePush(nouns, uid, notification);
}

function queuePush(
  { notificationLevels, pushSubscriptions, wakeBy, now }: AnnounceNouns,
  uid: number,
  notification: NotificationRecord,
): void {
  const { notificationId, level, source } = notification;
  const subscriptions = pushSubscriptions.list(uid).filter((one) => reaches(level, one.level));
  if (subscriptions.length === 0 || !reaches(level, notificationLevels.read(uid)[originOf(source)])) return;
  for (const subscription of subscriptions) pushSubscriptions.queue(subscription, notificationId, priorityOf(source), now);
  wakeBy(now);
}

function priorityOf(source: NotificationRecord["source"]): PushPriority {
  if (isQuestion(source)) return QUESTION_PRIORITY;
  return source.kind === "kernel" ? 1 : 0;
}
