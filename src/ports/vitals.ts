// How the host itself is, as far as only it can know: for sys.doctor. What a host cannot measure is null.

export interface Vitals {
  /** The size of what everything is stored on. */
  readonly storageBytes: number | null;
  read(): Promise<VitalSigns>;
}

export type VitalSigns = {
  /** Found out by writing: null where it is kept, else why it is not. */
  storageProblem: string | null;
  /** Of the kernel's own database, with what waits to be written into it. */
  databaseBytes: number | null;
  /** What can still be stored. */
  freeBytes: number | null;
  memoryBytes: number | null;
  /** What the gateway runs on, such as Node and SQLite; `problem` says why that is not a good idea. */
  runtime: readonly { name: string; version: string; problem: string | null }[];
  /** Whether others than this machine can reach it, and whether on the way there somebody could listen. */
  reach: { isPublic: boolean; isEncrypted: boolean };
};
