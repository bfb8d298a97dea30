// Changes what is pushed to a browser.

import { z } from "zod";
import { PUSH_SUBSCRIPTION, PushSubscriptionRecord, Threshold } from "../../../../protocol/push-records.ts";
import { mustBePerson, requireOwn, toRecord } from "../../../push/subscribe.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "notification.push.update",
  doc: "Change the lowest level that is pushed to a browser of the caller, and whether questions may be allowed there.",
  runs: "kernel",
  does: "write",
  changes: "push",
  from: ["user"],
  grant: ["users"],
  args: z.object({ subscriptionId: z.string().min(1).max(128), level: Threshold.optional(), mayAllow: z.boolean().optional() }),
  result: z.object({ subscription: PushSubscriptionRecord }),
  fails: { 403: "the caller is a process", 404: "there is no such subscription of this user" },
  example: {
    args: { subscriptionId: PUSH_SUBSCRIPTION.subscriptionId, level: "warning" },
    result: { subscription: { ...PUSH_SUBSCRIPTION, level: "warning" } },
  },
  run({ pushSubscriptions }, caller, { subscriptionId, ...change }) {
    mustBePerson(caller);
    requireOwn(pushSubscriptions, caller, subscriptionId);
    pushSubscriptions.update(subscriptionId, change);
    return { subscription: toRecord(requireOwn(pushSubscriptions, caller, subscriptionId), caller) };
  },
});
