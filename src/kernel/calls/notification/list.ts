// Lists notifications.

import { z } from "zod";
import { NOTIFICATION, NotificationRecord } from "../../../protocol/notification-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "notification.list",
  doc: "List the caller's notifications, newest first. Those that were read are included unless includeRead is false, those that were dismissed only if includeDismissed is set. unreadCount counts all that are neither read nor dismissed, up to 1000.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    includeRead: z.boolean().default(true),
    includeDismissed: z.boolean().default(false),
    limit: z
      .number()
      .default(100)
      .transform((limit) => Math.min(500, Math.max(1, Math.floor(limit)))),
  }),
  result: z.object({ notifications: z.array(NotificationRecord), unreadCount: z.int() }),
  fails: {},
  example: { args: { includeRead: false }, result: { notifications: [NOTIFICATION], unreadCount: 1 } },
  run({ notifications, now }, { uid }, args) {
    return { notifications: notifications.list(uid, args, now), unreadCount: notifications.countUnread(uid, now) };
  },
});
