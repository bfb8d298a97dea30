// The schedule in the examples of sched.* calls.

export const SCHEDULE = {
  id: "1c9e7f0a-5b1e-4c0e-9d55-0f2f6f0c8a11",
  ownerUid: 1000,
  creator: { kind: "user" as const, uid: 1000, username: "alice" },
  runAs: { kind: "user" as const, uid: 1000, username: "alice" },
  name: "Morning mail",
  enabled: true,
  expression: { kind: "cron" as const, expr: "0 8 * * 1-5", timezone: "Europe/Berlin" },
  target: { kind: "process.spawn" as const, profile: "cron", prompt: "Summarise the mail of the night." },
  overlapPolicy: "skip" as const,
  catchUp: "once" as const,
  notify: "all" as const,
  says: "every weekday at 08:00 (Europe/Berlin)",
  createdAtMs: 1763200000000,
  updatedAtMs: 1763200000000,
  state: {
    nextRunAtMs: 1763362800000,
    runningAtMs: null,
    lastRunAtMs: null,
    lastStatus: null,
    lastError: null,
    lastDurationMs: null,
    runCount: 0,
    pausedBecause: null,
  },
};
