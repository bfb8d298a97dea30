// How many calls of a schedule's run were refused.

export const refusedCalls = {
  version: 21,
  statements: ["ALTER TABLE schedule_runs ADD COLUMN refused_calls INTEGER NOT NULL DEFAULT 0"],
} as const;
