// How much one outbound request may take. Units are last in each name.

export const EGRESS = {
  urlBytes: 8 * 1024,
  /** Finding the address, connecting and shaking hands. */
  connectMs: 10_000,
  totalMs: 60_000,
  /** The most a caller may ask for. */
  totalMsMax: 600_000,
  idleMs: 30_000,
  redirects: 5,
  bodyBytes: 32 * 1024 * 1024,
  headerBytes: 64 * 1024,
  /** Requests to one host at the same time; others wait their turn within their total time. */
  parallelPerHost: 8,
} as const;
