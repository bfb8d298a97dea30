// Changes which notifications interrupt the caller.

import { z } from "zod";
import { NOTIFICATION_LEVELS, NotificationLevels, NotificationOrigin, Threshold } from "../../../../protocol/push-records.ts";
import { mustBePerson } from "../../../push/subscribe.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "notification.settings.set",
  doc: "Change which notifications interrupt the caller, on all their devices. What is not named stays as it is.",
  runs: "kernel",
  does: "write",
  changes: "push",
  from: ["user"],
  grant: ["users"],
  args: z.object({ levels: z.partialRecord(NotificationOrigin, Threshold) }),
  result: z.object({ levels: NotificationLevels }),
  fails: { 403: "the caller is a process" },
  example: { args: { levels: { devices: "never" } }, result: { levels: { ...NOTIFICATION_LEVELS, devices: "never" } } },
  run({ notificationLevels }, caller, { levels }) {
    mustBePerson(caller);
    return { levels: notificationLevels.change(caller.uid, levels) };
  },
});
