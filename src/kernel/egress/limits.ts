// Limits of one outbound request. Each name ends with its unit.

export const EGRESS = {
  urlBytes: 8 * 1024,
  /** DNS lookup, connect and TLS handshake together. */
  connectMs: 10_000,
  totalMs: 60_000,
  /** The longest timeout that a caller may ask for. */
  totalMsMax: 600_000,
  idleMs: 30_000,
  redirects: 5,
  bodyBytes: 32 * 1024 * 1024,
  headerBytes: 64 * 1024,
  /** Concurrent requests to one host; others are queued, which counts towards their total time. */
  parallelPerHost: 8,
} as const;
