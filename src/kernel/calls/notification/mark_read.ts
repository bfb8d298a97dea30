// Marks a notification as read.

import { z } from "zod";
import { NOTIFICATION, NotificationRecord } from "../../../protocol/notification-records.ts";
import { NOTIFICATION_UPDATED } from "../../../protocol/signal-names.ts";
import { checkMayHide } from "../../notifications/notify.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "notification.mark_read",
  doc: "Mark a notification of the caller as read: it expires a week later, counted from the last such call; readAt is the time of the first. notification is null if there is none with this id.",
  runs: "kernel",
  does: "write",
  from: ["user"],
  grant: ["users"],
  args: z.object({ notificationId: z.string().min(1).max(128) }),
  result: z.object({ notification: NotificationRecord.nullable() }),
  fails: { 403: "a process cannot hide what the gateway tells a person" },
  example: {
    args: { notificationId: NOTIFICATION.notificationId },
    result: { notification: { ...NOTIFICATION, readAt: 1763200100000, expiresAt: 1763804900000 } },
  },
  run({ notifications, emit, after, now }, caller, { notificationId }) {
    const { uid } = caller;
    checkMayHide(notifications, caller, notificationId, now);
    const notification = notifications.markRead(uid, notificationId, now);
    if (notification !== null) after(() => emit.sendNotification(uid, NOTIFICATION_UPDATED, notification));
    return { notification };
  },
});
