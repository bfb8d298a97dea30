// Ends the push messages to a browser.

import { z } from "zod";
import { PUSH_SUBSCRIPTION } from "../../../../protocol/push-records.ts";
import { mustBePerson, requireOwn } from "../../../push/subscribe.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "notification.push.unsubscribe",
  doc: "End the push messages to a browser of the caller, such as a telephone that was lost. What waits to be sent is not sent.",
  runs: "kernel",
  does: "write",
  changes: "push",
  from: ["user"],
  grant: ["users"],
  args: z.object({ subscriptionId: z.string().min(1).max(128) }),
  result: z.object({ ok: z.literal(true) }),
  fails: { 403: "the caller is a process", 404: "there is no such subscription of this user" },
  example: { args: { subscriptionId: PUSH_SUBSCRIPTION.subscriptionId }, result: { ok: true } },
  run({ pushSubscriptions }, caller, { subscriptionId }) {
    mustBePerson(caller);
    pushSubscriptions.remove(requireOwn(pushSubscriptions, caller, subscriptionId).subscriptionId);
    return { ok: true as const };
  },
});
