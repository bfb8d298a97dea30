// The notification in the examples of notification.* calls.

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
