// Whether a token still lets anybody in. Values may come from a gateway that does not say when a token ends unused.

export type TokenEnd = { revokedAt: number | null; expiresAt: number | null; endsUnusedAt?: number | null };

export function isTokenLive({ revokedAt, expiresAt, endsUnusedAt = null }: TokenEnd, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now) && (endsUnusedAt === null || endsUnusedAt > now);
}
