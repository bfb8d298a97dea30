// The in-memory set of ports, for the simulator and for unit tests of kernel code. Each is a file in memory/; tests import this one.

import type { Log, Meter } from "../../src/ports/log.ts";

export { MemoryRepositories, NO_PROCESSES } from "./memory/actors.ts";
export { Agenda } from "./memory/agenda.ts";
export { MemoryBlobs } from "./memory/blobs.ts";
export { MemoryFiles } from "./memory/files.ts";
export { type Lateness, MemoryClock } from "./memory/clock.ts";
export { MemoryProcesses } from "./memory/processes.ts";
export { memoryNet } from "./memory/net.ts";
export { memoryCrypto, quickKey } from "./memory/crypto.ts";
export { Random } from "./memory/random.ts";
export { type Latency, MemorySockets, type PeerEnd, type Watch } from "./memory/sockets.ts";
export { MemoryShells } from "./memory/shells.ts";
export { MemorySql } from "./memory/sql.ts";
export { memoryVitals } from "./memory/vitals.ts";

export const silentMeter: Meter = { countCall() {}, countDropped() {} };

/** `failed` receives every line at level error. */
export function memoryLog(failed: (line: string) => void = () => {}): Log {
  return {
    debug() {},
    info() {},
    warn() {},
    error: (message, fields) => failed(`${message} ${JSON.stringify(fields ?? {})}`),
  };
}
