// Dismisses a notification.

import { z } from "zod";
import { NOTIFICATION, NotificationRecord } from "../../../protocol/notification-records.ts";
import { NOTIFICATION_DISMISSED } from "../../../protocol/signal-names.ts";
import { checkMayHide } from "../../notifications/notify.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "notification.dismiss",
  doc: "Dismiss a notification of the caller: lists leave it out, and it expires three days later. notification is null if there is none with this id.",
  runs: "kernel",
  does: "write",
  from: ["user"],
  grant: ["users"],
  args: z.object({ notificationId: z.string().min(1).max(128) }),
  result: z.object({ notification: NotificationRecord.nullable() }),
  fails: { 403: "a process cannot hide what the gateway tells a person" },
  example: {
    args: { notificationId: NOTIFICATION.notificationId },
    result: { notification: { ...NOTIFICATION, dismissedAt: 1763200100000, expiresAt: 1763459300000 } },
  },
  run({ notifications, emit, after, now }, caller, { notificationId }) {
    const { uid } = caller;
    checkMayHide(notifications, caller, notificationId, now);
    const notification = notifications.dismiss(uid, notificationId, now);
    if (notification !== null) after(() => emit.sendNotification(uid, NOTIFICATION_DISMISSED, notification));
    return { notification };
  },
});
