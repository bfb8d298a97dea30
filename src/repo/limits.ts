// The limits of a repository. Each bounds what an untrusted peer can make us store or compute; a host with little memory may
// pass smaller ones.

export const LIMITS = {
  /** One push or import, as sent over the wire. */
  packBytes: 50_000_000,
  packObjects: 250_000,
  objectBytes: 64 * 1024 * 1024,
  /** All objects of one pack, inflated. They are never in memory at the same time. */
  inflatedBytes: 2 * 1024 * 1024 * 1024,
  deltaChain: 50,
  /** Deltas whose base comes later in the pack wait in memory. Git itself writes no such packs. */
  waitingBytes: 8 * 1024 * 1024,
  treeEntries: 50_000,
  /** Distinct objects that one pack may reference. */
  packReferences: 500_000,
  refs: 10_000,
  /** The text part of a request: wants, haves, commands. */
  requestBytes: 4 * 1024 * 1024,
  /** A remote's list of refs, which may be far longer than what we would store ourselves. */
  advertisementBytes: 32 * 1024 * 1024,
  applyOps: 10_000,
  messageBytes: 64 * 1024,
} as const;

export type Limits = { readonly [name in keyof typeof LIMITS]: number };
