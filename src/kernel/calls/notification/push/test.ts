// Sends a push message to try it.

import { z } from "zod";
import { PUSH_SUBSCRIPTION } from "../../../../protocol/push-records.ts";
import { mustBePerson, requireOwn } from "../../../push/subscribe.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "notification.push.test",
  doc: "Send a message to a browser of the caller, to see whether it arrives. error says why its push service has not accepted it; null if it has.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  atOnce: 2,
  args: z.object({ subscriptionId: z.string().min(1).max(128) }),
  result: z.object({ error: z.string().nullable() }),
  fails: { 403: "the caller is a process", 404: "there is no such subscription of this user" },
  example: { args: { subscriptionId: PUSH_SUBSCRIPTION.subscriptionId }, result: { error: null } },
  async run({ push, pushSubscriptions }, caller, { subscriptionId }) {
    mustBePerson(caller);
    return { error: await push.sendTest(requireOwn(pushSubscriptions, caller, subscriptionId)) };
  },
});
