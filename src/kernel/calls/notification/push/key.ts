// Returns the key that browsers subscribe with.

import { z } from "zod";
import { mustBePerson } from "../../../push/subscribe.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "notification.push.key",
  doc: "Return the public key by which push services know this gateway (VAPID), for applicationServerKey of a browser's subscription. It is made with the first call and stays.",
  runs: "kernel",
  does: "write",
  from: ["user"],
  grant: ["users"],
  args: z.object({}),
  result: z.object({ publicKey: z.string() }),
  fails: { 403: "the caller is a process" },
  example: {
    args: {},
    result: { publicKey: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4" },
  },
  run({ pushSubscriptions }, caller) {
    mustBePerson(caller);
    return { publicKey: pushSubscriptions.makeKeys() };
  },
});
