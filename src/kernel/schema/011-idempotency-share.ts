// An index to count a user's live idempotency keys without reading the results, which may be large.

export const idempotencyShare = {
  version: 11,
  statements: ["CREATE INDEX idempotency_share ON idempotency (uid, created_at)"],
} as const;
