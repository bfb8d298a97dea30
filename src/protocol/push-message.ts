// What a push message holds for the service worker that shows it. The worker is a small file of its own, so this one needs no package.

import type { NotificationLevel } from "./notification-records.ts";

/** The decrypted content of a push message. Whoever changes it remembers that an older service worker may read it. */
export type PushPayload = {
  version: 1;
  /** Null for a test. */
  notificationId: string | null;
  title: string;
  body: string;
  level: NotificationLevel;
  createdAt: number;
  /** The path of the web desktop that it opens. */
  path: string;
  /** For a question: how it is answered. An answer is valid for this question and browser only. */
  question?: { subscriptionId: string; requestId: string; answers: PushAnswer[] };
};
export type PushAnswer = { decision: "approve" | "deny"; label: string; proof: string };

/** Where the service worker sends an answer. */
export const PUSH_ANSWER_PATH = "/push/answer";
