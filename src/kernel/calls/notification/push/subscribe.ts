// Has notifications pushed to a browser.

import { z } from "zod";
import { PUSH_SUBSCRIPTION, PushSubscriptionRecord, Threshold } from "../../../../protocol/push-records.ts";
import type { PushSubscriptionRow } from "../../../nouns/push-subscriptions.ts";
import { isSubscriptionLive } from "../../../push/push.ts";
import { mustBePerson, requireBrowserToken, toRecord } from "../../../push/subscribe.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "notification.push.subscribe",
  doc: "Have the caller's notifications pushed to this browser, also while no page is open. endpoint and keys are those of the browser's PushSubscription, made with notification.push.key. Messages are encrypted for the browser alone (RFC 8291). It replaces an earlier subscription of the same browser, and ends with the token that the browser has signed in with. level is the lowest that is sent, all by default; mayAllow says whether a question may be allowed from the notification, and not only denied, by default true. Of a subscription that is replaced both stay.",
  runs: "kernel",
  does: "effect",
  changes: "push",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({
    endpoint: z.string().min(1).max(2_000),
    keys: z.object({ p256dh: z.string().min(1).max(200), auth: z.string().min(1).max(100) }),
    label: z.string().trim().min(1).max(200),
    level: Threshold.optional(),
    mayAllow: z.boolean().optional(),
  }),
  result: z.object({ subscription: PushSubscriptionRecord }),
  fails: {
    400: "the endpoint is not a public https address, or a key is not of its form",
    403: "the caller is a process, or has not signed in with a token",
    429: "too many browsers get push messages",
  },
  example: {
    args: {
      endpoint: "https://push.example.net/send/dGhpcyBpcyBub3QgYSByZWFsIG9uZQ",
      keys: {
        p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        auth: "BTBZMqHH6r4Tts7J_aSIgg",
      },
      label: "Chrome on Android",
    },
    result: { subscription: PUSH_SUBSCRIPTION },
  },
  async run({ push, finish }, caller, { label, level, mayAllow, endpoint, keys }) {
    mustBePerson(caller);
    const tokenId = requireBrowserToken(caller);
    const address = { endpoint, ...keys };
    push.checkAddress(address);
    const origin = push.originOf(caller);
    return finish((nouns) => {
      const { pushSubscriptions, now } = nouns;
      pushSubscriptions.makeKeys();
      const isLive = (one: PushSubscriptionRow) => isSubscriptionLive(nouns, one);
      const subscription = pushSubscriptions.add({ uid: caller.uid, tokenId, origin, label, level, mayAllow, address }, isLive, now);
      return { subscription: toRecord(subscription, caller) };
    });
  },
});
