// Lists the browsers that get push messages.

import { z } from "zod";
import { PUSH_SUBSCRIPTION, PushSubscriptionRecord } from "../../../../protocol/push-records.ts";
import { isSubscriptionLive } from "../../../push/push.ts";
import { toRecord } from "../../../push/subscribe.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "notification.push.list",
  doc: "List the caller's browsers that get push messages, the oldest first. Browsers that are signed out are left out.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({}),
  result: z.object({ subscriptions: z.array(PushSubscriptionRecord) }),
  fails: {},
  example: { args: {}, result: { subscriptions: [PUSH_SUBSCRIPTION] } },
  run(reads, caller) {
    const live = reads.pushSubscriptions.list(caller.uid).filter((one) => isSubscriptionLive(reads, one));
    return { subscriptions: live.map((one) => toRecord(one, caller)) };
  },
});
