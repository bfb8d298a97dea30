// Whether a token is still valid. An older gateway does not say when an unused token ends.

export type TokenEnd = { revokedAt: number | null; expiresAt: number | null; endsUnusedAt?: number | null };

export function isTokenLive({ revokedAt, expiresAt, endsUnusedAt = null }: TokenEnd, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now) && (endsUnusedAt === null || endsUnusedAt > now);
}
