// How much of anything a repository takes. Every number is a bound on what a stranger can make us hold or compute;
// a host with little memory may pass smaller ones.

export const LIMITS = {
  /** One push or import, as it comes over the wire. */
  packBytes: 50_000_000,
  packObjects: 250_000,
  objectBytes: 64 * 1024 * 1024,
  /** Everything of one pack, unpacked. It is never held at once. */
  inflatedBytes: 2 * 1024 * 1024 * 1024,
  deltaChain: 50,
  /** Deltas whose base comes later in the pack have to wait in memory. Git itself writes none. */
  waitingBytes: 8 * 1024 * 1024,
  treeEntries: 50_000,
  /** Different objects that one pack may point to. */
  packReferences: 500_000,
  refs: 10_000,
  /** The text part of a request: wants, haves, commands. */
  requestBytes: 4 * 1024 * 1024,
  /** A remote's list of refs, which may be far longer than what we would keep ourselves. */
  advertisementBytes: 32 * 1024 * 1024,
  applyOps: 10_000,
  messageBytes: 64 * 1024,
} as const;

export type Limits = { readonly [name in keyof typeof LIMITS]: number };
