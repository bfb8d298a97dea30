// The state of this machine and this process: the disk under the data directory, the database, memory and versions.

import { randomUUID } from "node:crypto";
import { statfsSync } from "node:fs";
import { open, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Vitals } from "../../ports/vitals.ts";
import { makeMachineVitals } from "../shared/machine-vitals.ts";
import type { Home } from "./home.ts";
import { readNetwork } from "./network.ts";
import { othersCanReach, type UpOptions } from "./options.ts";

/** Older versions can corrupt a database that two connections write at the same instant. */
const SQLITE_MIN = [3, 51, 3];
const NODE_MIN = [24];

/** `port` is the one that the gateway listens on. */
export function makeNodeVitals(home: Pick<Home, "path" | "databaseFile">, options: UpOptions, port: () => number): Vitals {
  return {
    storageBytes: totalDiskBytes(home.path),
    readMachine: makeMachineVitals(home.path),
    readNetwork: () => readNetwork(options, port()),
    async read() {
      const [storageProblem, databaseBytes, freeBytes] = await Promise.all([
        probeStorage(home.path),
        sumFileSizes(home.databaseFile, `${home.databaseFile}-wal`),
        statfs(home.path).then(
          ({ bavail, bsize }) => bavail * bsize,
          () => null,
        ),
      ]);
      return {
        storageProblem,
        databaseBytes,
        freeBytes,
        memoryBytes: process.memoryUsage.rss(),
        runtime: [
          checkVersion("Node", process.versions.node, NODE_MIN, "Install a newer Node and restart the gateway."),
          checkVersion("SQLite", sqliteVersion(), SQLITE_MIN, "It comes with Node: install a newer Node and restart the gateway."),
        ],
        reach: { isPublic: othersCanReach(options), isEncrypted: isEncrypted(options) },
      };
    },
  };
}

function totalDiskBytes(path: string): number | null {
  try {
    const { blocks, bsize } = statfsSync(path);
    return blocks * bsize;
  } catch {
    return null;
  }
}

/** Tests the disk by writing, syncing and removing a file. */
async function probeStorage(folder: string): Promise<string | null> {
  const file = join(folder, `doctor-${randomUUID()}.tmp`);
  try {
    const handle = await open(file, "wx", 0o600);
    try {
      await handle.writeFile("written and removed by gsv doctor\n");
      await handle.sync();
    } finally {
      await handle.close();
    }
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "the file could not be written";
  } finally {
    await rm(file, { force: true }).catch(() => {});
  }
}

async function sumFileSizes(...files: string[]): Promise<number | null> {
  const sizes = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ size }) => size,
        () => null,
      ),
    ),
  );
  return sizes[0] === null ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

function sqliteVersion(): string {
  const database = new DatabaseSync(":memory:");
  try {
    return String(database.prepare("SELECT sqlite_version() AS version").get()?.version);
  } finally {
    database.close();
  }
}

function checkVersion(name: string, version: string, least: readonly number[], remedy: string) {
  const parts = version.split(".").map(Number);
  const index = least.findIndex((part, at) => part !== (parts[at] ?? 0));
  const isOld = index >= 0 && (parts[index] ?? 0) < least[index]!;
  return { name, version, problem: isOld ? `${name} ${version} is older than ${least.join(".")}. ${remedy}` : null };
}

/** If the operator listed origins, clients use those; a proxy in front of the gateway may provide the encryption. */
function isEncrypted({ tls, origins }: UpOptions): boolean {
  return tls !== null || (origins.length > 0 && origins.every((origin) => origin.startsWith("https:")));
}
