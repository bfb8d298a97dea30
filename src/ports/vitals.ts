// The state of the host that only the host can measure, for sys.doctor and sys.vitals. Values it cannot measure are null.

export interface Vitals {
  /** The size of the disk or store that holds everything. */
  readonly storageBytes: number | null;
  read(): Promise<VitalSigns>;
  /** How busy the machine is, cheaply: it may be asked every few seconds. */
  readMachine(): Promise<MachineVitals>;
  /** How the gateway can be reached from elsewhere. */
  readNetwork(): NetworkFacts;
}

export type InterfaceAddress = { address: string; kind: "local" | "tailscale" | "public" };

export type NetworkFacts = {
  /** `platform`: wherever the platform routes requests from. */
  listensOn: "loopback" | "network" | "platform";
  port: number | null;
  /** Whether the gateway itself encrypts connections; a proxy in front of it may do so as well. */
  isEncrypted: boolean;
  /** The addresses by name that its operator listed. */
  origins: readonly string[];
  /** Addresses of the host at which the gateway answers, or would if it listened on the network. */
  interfaces: readonly InterfaceAddress[];
};

/** Of a disk or a memory. */
export type Room = { totalBytes: number; freeBytes: number };

export type MachineVitals = {
  /** Its operating system, as people call it. */
  system: string;
  arch: string | null;
  cpuCount: number | null;
  /** The part of all processors that was busy during the last seconds, from 0 to 1. */
  cpuBusy: number | null;
  memory: Room | null;
  disk: Room | null;
  uptimeMs: number | null;
};

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
