// A part lives as long as the kernel. The kernel calls the hooks of its parts in the order of its list; a part implements those it
// needs. A hook may throw a StorageError: the rows then stay as they are, and a later wake retries.

export type Part = {
  /** The kernel has started, and the rows match the sockets that are open. */
  begin?(): void;
  /** A wake, which may be late or arrive twice. */
  onWake?(now: number): void;
  /** When the part needs the next wake; null for never. */
  nextDueAt?(): number | null;
  onSocketClosed?(socketId: string): void;
  /** The peer has read most of what it was sent. */
  onSocketDrained?(socketId: string): void;
  /** A batch did not reach the disk: the part must bring its memory in line with the rows again. */
  onRollback?(): void;
};

/** The earliest of several due times. */
export function earliestOf(times: Iterable<number | null | undefined>): number | null {
  let first: number | null = null;
  for (const at of times) if (at != null && (first === null || at < first)) first = at;
  return first;
}
