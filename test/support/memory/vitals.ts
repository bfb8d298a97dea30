// The Vitals port of a healthy host; a test may override any value.

import type { Vitals, VitalSigns } from "../../../src/ports/vitals.ts";

export function memoryVitals(signs: Partial<VitalSigns> = {}): Vitals {
  return {
    storageBytes: null,
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
