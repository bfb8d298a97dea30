// A free port for a gateway that stops and starts again on it. It lies outside the system's range of ephemeral ports, or an
// outgoing connection might take it meanwhile. A file with its number keeps it from other tests on this machine, those of other
// runs included.

import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

const LOWEST = 10_000;
const HIGHEST = 65_535;
/** When the claim of a run that was killed expires. */
const CLAIM_MS = 24 * 60 * 60 * 1000;
const CLAIMS = join(tmpdir(), `gsv-test-ports-${userInfo().username}`);

export async function steadyPort(): Promise<number> {
  const [from, to] = ephemeralRange();
  const [below, above] = [Math.max(0, from - LOWEST), Math.max(0, HIGHEST - to)];
  const count = below + above;
  mkdirSync(CLAIMS, { recursive: true });
  // Each run starts at a different port, so that two seldom try the same one.
  for (let tried = 0, at = (process.pid * 97) % Math.max(1, count); tried < count; tried++, at = (at + 1) % count) {
    const port = at < below ? LOWEST + at : to + 1 + at - below;
    if (claim(port) && (await tryListen(port)) !== null) return port;
  }
  const any = await tryListen(0);
  if (any === null) throw new Error("There is no free port");
  return any;
}

/** False if another test holds it. */
function claim(port: number): boolean {
  const file = join(CLAIMS, String(port));
  try {
    if (Date.now() - statSync(file).mtimeMs > CLAIM_MS) rmSync(file, { force: true });
  } catch {
    // Not claimed.
  }
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
  } catch {
    return false;
  }
  process.once("exit", () => rmSync(file, { force: true }));
  return true;
}

function ephemeralRange(): [number, number] {
  try {
    const [from = NaN, to = NaN] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").trim().split(/\s+/).map(Number);
    if (from > 0 && to >= from) return [from, to];
  } catch {
    // Not Linux.
  }
  return [32_768, HIGHEST];
}

/** Listens on the port for a moment. Null if it is in use. */
function tryListen(port: number): Promise<number | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(null));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : null));
    });
  });
}
