// Returns which notifications interrupt the caller.

import { z } from "zod";
import { NOTIFICATION_LEVELS, NotificationLevels } from "../../../../protocol/push-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "notification.settings.get",
  doc: "Return which notifications interrupt the caller, by what they are from: all, those from level warning or error on, or none. The others are in the list, but are not pushed, and no notice appears in the page.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({}),
  result: z.object({ levels: NotificationLevels }),
  fails: {},
  example: { args: {}, result: { levels: NOTIFICATION_LEVELS } },
  run: ({ notificationLevels }, { uid }) => ({ levels: notificationLevels.read(uid) }),
});
