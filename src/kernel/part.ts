// A part of the kernel that lives as long as it does. The kernel calls the hooks of its parts in the order of its list; a part
// implements those it needs. A hook may throw a StorageError: then the rows stay as they are, and a later wake tries again.

export type Part = {
  /** The kernel has started, and rows agree with the sockets that are there. */
  begin?(): void;
  /** A wake, which may be late or come twice. */
  woke?(now: number): void;
  /** When the part needs the next wake; null for never. */
  nextDueAt?(): number | null;
  socketClosed?(socketId: string): void;
  /** The peer has read most of what it was sent. */
  socketDrained?(socketId: string): void;
  /** A batch did not reach the disk: what memory holds must follow the rows again. */
  rolledBack?(): void;
};

/** The earliest of several due times. */
export function earliest(times: Iterable<number | null | undefined>): number | null {
  let first: number | null = null;
  for (const at of times) if (at != null && (first === null || at < first)) first = at;
  return first;
}
