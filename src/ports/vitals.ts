// The state of the host that only the host can measure, for sys.doctor. Values it cannot measure are null.

export interface Vitals {
  /** The size of the disk or store that holds everything. */
  readonly storageBytes: number | null;
  read(): Promise<VitalSigns>;
}

export type VitalSigns = {
  /** Measured by a test write: null if it succeeded, else why it failed. */
  storageProblem: string | null;
  /** Size of the kernel's own database, including its write-ahead log. */
  databaseBytes: number | null;
  /** How much can still be stored. */
  freeBytes: number | null;
  memoryBytes: number | null;
  /** What the gateway runs on, such as Node and SQLite; `problem` says what is wrong with that version. */
  runtime: readonly { name: string; version: string; problem: string | null }[];
  /** Whether other machines can reach it, and whether those connections are encrypted. */
  reach: { isPublic: boolean; isEncrypted: boolean };
};
