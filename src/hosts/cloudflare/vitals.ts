// The state of the kernel's object. Disk, memory and versions are up to the platform; the storage limit is known.

import type { Vitals } from "../../ports/vitals.ts";

/** The most a Durable Object may store. */
const DATABASE_BYTES_MAX = 10 * 1024 * 1024 * 1024;

/** `origins` is null if the gateway answers to any address the platform routes here, all of which are encrypted. */
export function makeCloudflareVitals(storage: DurableObjectStorage, origins: readonly string[] | null): Vitals {
  return {
    // Large content is in R2, which has no limit, but names and small content of all users are here.
    storageBytes: DATABASE_BYTES_MAX,
    readNetwork: () => ({ listensOn: "platform", port: null, isEncrypted: true, origins: origins ?? [], interfaces: [] }),
    async readMachine() {
      const disk = { totalBytes: DATABASE_BYTES_MAX, freeBytes: Math.max(0, DATABASE_BYTES_MAX - storage.sql.databaseSize) };
      return { system: "Cloudflare Workers", arch: null, cpuCount: null, cpuBusy: null, memory: null, disk, uptimeMs: null };
    },
    async read() {
      const { databaseSize } = storage.sql;
      return {
        storageProblem: null,
        databaseBytes: databaseSize,
        freeBytes: Math.max(0, DATABASE_BYTES_MAX - databaseSize),
        memoryBytes: null,
        runtime: [{ name: "Cloudflare Workers", version: "as provided by the platform", problem: null }],
        reach: { isPublic: true, isEncrypted: origins === null || origins.every((origin) => origin.startsWith("https:")) },
      };
    },
  };
}
