// Push messages to browsers on the wire, as schemas. What a message holds is push-message.ts.

import { z } from "zod";

/** Which notifications interrupt: all, from a level on, or none. A warning is less than an error. */
export const Threshold = z.enum(["all", "warning", "error", "never"]);
export type Threshold = z.infer<typeof Threshold>;

/** Where notifications come from, as people distinguish them: agents, the user, apps, and the topics of the kernel. */
export const NotificationOrigin = z.enum(["agents", "you", "apps", "approvals", "budgets", "devices", "schedules", "watches"]);
export type NotificationOrigin = z.infer<typeof NotificationOrigin>;

export const NotificationLevels = z.record(NotificationOrigin, Threshold);
export type NotificationLevels = z.infer<typeof NotificationLevels>;

/** A browser that gets push messages. */
export const PushSubscriptionRecord = z.object({
  subscriptionId: z.string(),
  label: z.string(),
  /** The host of the push service that the browser has chosen. */
  service: z.string(),
  /** The lowest level that is sent, on top of the user's levels by origin. */
  level: Threshold,
  /** Whether a question may be allowed from the notification, and not only denied. */
  mayAllow: z.boolean(),
  /** Whether it is the browser that asks. */
  isCurrent: z.boolean(),
  createdAt: z.number(),
  lastSentAt: z.number().nullable(),
  /** Why the last attempt failed; null if it did not. */
  lastError: z.string().nullable(),
});
export type PushSubscriptionRecord = z.infer<typeof PushSubscriptionRecord>;

/** In the examples of calls. */
export const NOTIFICATION_LEVELS: NotificationLevels = {
  agents: "all",
  you: "all",
  apps: "all",
  approvals: "all",
  budgets: "all",
  devices: "all",
  schedules: "all",
  watches: "all",
};
export const PUSH_SUBSCRIPTION: PushSubscriptionRecord = {
  subscriptionId: "0b7a9c52-2c6e-4f0e-9f2a-3a1f6f3d7c10",
  label: "Chrome on Android",
  service: "push.example.net",
  level: "all",
  mayAllow: true,
  isCurrent: true,
  createdAt: 1763200000000,
  lastSentAt: null,
  lastError: null,
};
