// How the object of the kernel is. Its disk, memory and versions are the platform's business; what it may store is not.

import type { Vitals } from "../../ports/vitals.ts";

/** What one Durable Object may store. */
const DATABASE_BYTES_MAX = 10 * 1024 * 1024 * 1024;

/** `origins` null: any address the platform routes here, all of which it encrypts. */
export function cloudflareVitals(storage: DurableObjectStorage, origins: readonly string[] | null): Vitals {
  return {
    // Large content lies elsewhere and has no end, but names and small content of all users are here.
    storageBytes: DATABASE_BYTES_MAX,
    async read() {
      const { databaseSize } = storage.sql;
      return {
        storageProblem: null,
        databaseBytes: databaseSize,
        freeBytes: Math.max(0, DATABASE_BYTES_MAX - databaseSize),
        memoryBytes: null,
        runtime: [{ name: "Cloudflare Workers", version: "as the platform has it", problem: null }],
        reach: { isPublic: true, isEncrypted: origins === null || origins.every((origin) => origin.startsWith("https:")) },
      };
    },
  };
}
