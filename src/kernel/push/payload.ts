// What a browser is told of a notification: text that cannot mislead, the place it opens, and for a question how it is answered.

import { makeVisible } from "../../approval/visible.ts";
import { shorten } from "../../lib/shorten.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { NotificationRecord } from "../../protocol/notification-records.ts";
import type { PushAnswer, PushPayload } from "../../protocol/push-message.ts";
import { isDesktopPath } from "../../protocol/desktop-path.ts";
import type { PushSubscriptionRow } from "../nouns/push-subscriptions.ts";
import { makeProof } from "./answers.ts";
import { MESSAGE_BYTES_MAX } from "./encrypt.ts";

const TITLE_CHARS_MAX = 120;
const BODY_CHARS_MAX = 600;
/** What systems show of a notification without a further press. Nobody allows what they have not been shown whole. */
const SHOWN_CHARS_MAX = 160;
const SHOWN_LINES_MAX = 4;
const NOTIFICATIONS_PATH = "/notifications";
const APPROVALS_PATH = "/approvals";

type Browser = Pick<PushSubscriptionRow, "subscriptionId" | "mayAllow">;

export function encodePayload(
  crypto: Pick<Crypto, "hmacSha256">,
  answerKey: Uint8Array,
  browser: Browser,
  notification: NotificationRecord,
): Uint8Array {
  const payload = makePayload(crypto, answerKey, browser, notification);
  const bytes = encode(payload);
  if (bytes.length <= MESSAGE_BYTES_MAX) return bytes;
  // Letters of other scripts take several bytes.
  const body = shorten(payload.body, Math.max(1, Math.floor((payload.body.length * MESSAGE_BYTES_MAX) / bytes.length / 2)));
  return encode({ ...payload, body });
}

function makePayload(
  crypto: Pick<Crypto, "hmacSha256">,
  answerKey: Uint8Array,
  { subscriptionId, mayAllow }: Browser,
  { notificationId, title, body = "", level, createdAt, actions, source }: NotificationRecord,
): PushPayload {
  const text = makeVisible(body);
  const shown = { title: shorten(makeVisible(title), TITLE_CHARS_MAX), body: shorten(text, BODY_CHARS_MAX) };
  const about = { version: 1 as const, notificationId, ...shown, level, createdAt };
  // Only the kernel's own can answer a question, and so say exactly what is asked.
  const offered = source.kind === "kernel" ? actions.filter(({ kind }) => kind === "approve" || kind === "deny") : [];
  const requestId = offered[0]?.target;
  if (requestId === undefined) {
    const target = actions.find(({ kind }) => kind === "open")?.target;
    return { ...about, path: target !== undefined && isDesktopPath(target) ? target : NOTIFICATIONS_PATH };
  }
  const isShownWhole = mayAllow && text.length <= SHOWN_CHARS_MAX && text.split("\n").length <= SHOWN_LINES_MAX;
  const answers = offered.flatMap(({ kind, label }): PushAnswer[] => {
    const decision = kind === "approve" ? "approve" : "deny";
    if (decision === "approve" && !isShownWhole) return [];
    return [{ decision, label, proof: makeProof(crypto, answerKey, { subscriptionId, requestId, decision }) }];
  });
  return { ...about, path: APPROVALS_PATH, question: { subscriptionId, requestId, answers } };
}

export function encodeTest(now: number): Uint8Array {
  return encode({
    version: 1,
    notificationId: null,
    title: "Push messages work",
    body: "This browser is told of what happens in GSV, also while no page is open.",
    level: "success",
    createdAt: now,
    path: NOTIFICATIONS_PATH,
  });
}

function encode(payload: PushPayload): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(payload));
}
