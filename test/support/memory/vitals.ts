// The Vitals port of a healthy host; a test may override any value.

import type { Vitals, VitalSigns } from "../../../src/ports/vitals.ts";

export function memoryVitals(signs: Partial<VitalSigns> = {}): Vitals {
  return {
    storageBytes: null,
    readMachine: async () => ({
      system: "Memory",
      arch: null,
      cpuCount: null,
      cpuBusy: null,
      memory: null,
      disk: null,
      uptimeMs: null,
    }),
    readNetwork: () => ({ listensOn: "loopback", port: 8787, isEncrypted: false, origins: [], interfaces: [] }),
    read: async () => ({
      storageProblem: null,
      databaseBytes: 4096,
      freeBytes: 50 * 1024 ** 3,
      memoryBytes: null,
      runtime: [],
      reach: { isPublic: false, isEncrypted: false },
      ...signs,
    }),
  };
}
