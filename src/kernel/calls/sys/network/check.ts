// Checks whether an address leads to this gateway.

import { z } from "zod";
import { isHttpUrl } from "../../../../lib/http-url.ts";
import { fail } from "../../../../lib/sys-error.ts";
import { checkAddress } from "../../../network/check-address.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.network.check",
  doc: "Ask the gateway to connect to itself by an address, such as https://gsv.example.com. outcome is reached if this gateway answered; unlisted if it answered that it does not go by that name; other if something else answered; unreachable if nothing did; and private if only root may have it checked, because the address is not public.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ url: z.string().min(1).max(2000) }),
  result: z.object({
    outcome: z.enum(["reached", "unlisted", "other", "unreachable", "private"]),
    /** Why nothing answered. */
    reason: z.string().nullable(),
  }),
  fails: { 400: "not an http or https address", 429: "too many checks" },
  example: { args: { url: "https://gsv.example.com" }, result: { outcome: "reached", reason: null } },
  async run({ net, vitals, about, throttle, now, signal }, caller, { url }) {
    if (!isHttpUrl(url)) fail(400, `Not an address: ${url}. Use something like https://gsv.example.com`);
    throttle.countOperation("check", `user-${caller.uid}`, now);
    const { origin, host } = new URL(url);
    const isOwn = vitals.readNetwork().origins.some((listed) => new URL(listed).host === host);
    return checkAddress(net, { origin, startedAt: about.startedAt, mayBePrivate: isOwn || isRoot(caller), signal });
  },
});
