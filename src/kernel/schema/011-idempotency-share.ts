// How many keys a user has that still count: found without a look at the results themselves, which may be large.

export const idempotencyShare = {
  version: 11,
  statements: ["CREATE INDEX idempotency_share ON idempotency (uid, created_at)"],
} as const;
