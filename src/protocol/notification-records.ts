// Notifications on the wire, as schemas. Field names are those of the specification.

import { z } from "zod";

export const NotificationLevel = z.enum(["info", "success", "warning", "error"]);
export type NotificationLevel = z.infer<typeof NotificationLevel>;

/**
 * What a person can do about a notification. Clients know the kinds `open` (the target is a path of the web desktop, such as /chat/PID)
 * and, in notifications of the kernel only, `approve` and `deny` (the target is the id of a question). They ignore other kinds.
 */
export const NotificationAction = z.object({
  kind: z.string(),
  label: z.string(),
  target: z.string().optional(),
  args: z.record(z.string(), z.unknown()).optional(),
});
export type NotificationAction = z.infer<typeof NotificationAction>;

/** Which part of the kernel a notification is from. */
export const KernelTopic = z.enum(["approvals", "budgets", "devices", "schedules", "watches"]);
export type KernelTopic = z.infer<typeof KernelTopic>;

/** Who a notification is from, as the kernel knows it. The kernel's own name the process that they are about, if there is one. */
export const NotificationSource = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("user") }),
  z.object({ kind: z.literal("process"), processId: z.string() }),
  z.object({ kind: z.literal("app"), packageId: z.string(), packageName: z.string(), entrypointName: z.string() }),
  z.object({ kind: z.literal("kernel"), topic: KernelTopic, processId: z.string().optional() }),
]);
export type NotificationSource = z.infer<typeof NotificationSource>;

export const NotificationRecord = z.object({
  notificationId: z.string(),
  title: z.string(),
  body: z.string().optional(),
  level: NotificationLevel,
  createdAt: z.number(),
  readAt: z.number().nullable(),
  dismissedAt: z.number().nullable(),
  expiresAt: z.number().nullable(),
  actions: z.array(NotificationAction),
  source: NotificationSource,
});
export type NotificationRecord = z.infer<typeof NotificationRecord>;

/** In the examples of calls and signals. */
export const NOTIFICATION = {
  notificationId: "8f14e45f-ceea-467f-a8d6-3f1b5a2c9d10",
  title: "The backup is done",
  body: "1,204 files, 3.1 GB",
  level: "success" as const,
  createdAt: 1763200000000,
  readAt: null,
  dismissedAt: null,
  expiresAt: 1765792000000,
  actions: [],
  source: { kind: "process" as const, processId: "init:1000" },
};
