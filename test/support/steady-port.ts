// A free port for a gateway that goes away and comes back to it. It lies outside the range from which the system gives ports
// to outgoing connections, or one of those might sit on it meanwhile.

import { readFileSync } from "node:fs";
import { createServer } from "node:net";

const LOWEST = 10_000;
const HIGHEST = 65_535;
const TRIES = 100;

export async function steadyPort(): Promise<number> {
  const [from, to] = outgoing();
  const [below, above] = [Math.max(0, from - LOWEST), Math.max(0, HIGHEST - to)];
  const tries = below + above > 0 ? TRIES : 0;
  for (let tried = 0; tried < tries; tried++) {
    const at = Math.floor(Math.random() * (below + above));
    const port = at < below ? LOWEST + at : to + 1 + at - below;
    if ((await listened(port)) !== null) return port;
  }
  const any = await listened(0);
  if (any === null) throw new Error("There is no free port");
  return any;
}

function outgoing(): [number, number] {
  try {
    const [from = NaN, to = NaN] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").trim().split(/\s+/).map(Number);
    if (from > 0 && to >= from) return [from, to];
  } catch {
    // Not Linux.
  }
  return [32_768, HIGHEST];
}

/** Null where somebody else is there. */
function listened(port: number): Promise<number | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(null));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : null));
    });
  });
}
