// What a browser is told of a notification: text that cannot mislead, the place it opens, and for a question how it is answered.

import { makeVisible } from "../../approval/visible.ts";
import { shorten } from "../../lib/shorten.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { NotificationRecord } from "../../protocol/notification-records.ts";
import type { PushAnswer, PushPayload } from "../../protocol/push-message.ts";
import { isDesktopPath } from "../../protocol/desktop-path.ts";
import { isVisible } from "../../protocol/notification-levels.ts";
import type { PushSubscriptionRow } from "../nouns/push-subscriptions.ts";
import { makeProof } from "./answers.ts";
import { MESSAGE_BYTES_MAX } from "./encrypt.ts";

const TITLE_CHARS_MAX = 120;
const BODY_CHARS_MAX = 600;
/**
 * What systems show of a notification without a further press. Nobody allows what they have not been shown whole, so a line counts as
 * often as it may wrap, and text with letters whose width is not known never counts as whole.
 */
const SHOWN_COLUMNS = 36;
const SHOWN_LINES_MAX = 4;
const LABEL_CHARS_MAX = 40;
const NOTIFICATIONS_PATH = "/notifications";
const APPROVALS_PATH = "/approvals";

type Browser = Pick<PushSubscriptionRow, "subscriptionId" | "mayAllow">;
type Secrets = { crypto: Pick<Crypto, "hmacSha256">; answerKey: Uint8Array };

/** `agent` is the name of the process that a notification is from. */
export function encodePayload(secrets: Secrets, browser: Browser, notification: NotificationRecord, agent: string | null): Uint8Array {
  const payload = makePayload(secrets, browser, notification, agent);
  const bytes = encode(payload);
  if (bytes.length <= MESSAGE_BYTES_MAX) return bytes;
  // Letters of other scripts take several bytes.
  const body = shorten(payload.body, Math.max(1, Math.floor((payload.body.length * MESSAGE_BYTES_MAX) / bytes.length / 2)));
  return encode({ ...payload, body });
}

function makePayload(
  { crypto, answerKey }: Secrets,
  { subscriptionId, mayAllow }: Browser,
  { notificationId, title, body = "", level, createdAt, actions, source }: NotificationRecord,
  agent: string | null,
): PushPayload {
  const text = isVisible(source) ? body : makeVisible(body);
  const shown = { title: shorten(makeVisible(title), TITLE_CHARS_MAX), body: shorten(text, BODY_CHARS_MAX) };
  const about = { version: 1 as const, notificationId, level, createdAt };
  // Only the kernel's own can answer a question, and so say exactly what is asked.
  const offered = source.kind === "kernel" ? actions.filter(({ kind }) => kind === "approve" || kind === "deny") : [];
  const requestId = offered[0]?.target;
  if (requestId === undefined) {
    const target = actions.find(({ kind }) => kind === "open")?.target;
    const path = target !== undefined && isDesktopPath(target) ? target : NOTIFICATIONS_PATH;
    return { ...about, ...shown, body: `${describeSource(source, agent)}${shown.body}`, path };
  }
  const mayBeAllowed = mayAllow && isShownWhole(text) && !title.includes("\n") && shown.title === title;
  const answers = offered.flatMap(({ kind, label }): PushAnswer[] => {
    const decision = kind === "approve" ? "approve" : "deny";
    if (decision === "approve" && !mayBeAllowed) return [];
    return [{ decision, label, proof: makeProof(crypto, answerKey, { subscriptionId, requestId, decision }) }];
  });
  return { ...about, ...shown, path: APPROVALS_PATH, question: { subscriptionId, requestId, answers } };
}

function isShownWhole(text: string): boolean {
  const lines = text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / SHOWN_COLUMNS)), 0);
  return lines <= SHOWN_LINES_MAX && /^[\x20-\x7e\n]*$/.test(text);
}

/** First, so that no agent passes for the gateway, whatever another agent has called it. */
function describeSource(source: NotificationRecord["source"], agent: string | null): string {
  switch (source.kind) {
    case "process":
      return `From ${source.processId.startsWith("init:") ? "" : "the agent "}${shorten(agent ?? makeVisible(source.processId), LABEL_CHARS_MAX)}\n`;
    case "app":
      return `From ${makeVisible(shorten(source.packageName, LABEL_CHARS_MAX))}\n`;
    case "kernel":
    case "user":
      return "";
  }
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
