// The Node host inside the test's own process, on a scratch directory and a free port.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Gateway, startGateway } from "../../src/hosts/node/gateway.ts";
import { type UpFlags, parseUpOptions } from "../../src/hosts/node/options.ts";
import { sleep } from "../../src/lib/sleep.ts";
import type { Host } from "./host.ts";

const SAME_PORT_MS = 10_000;
const LOOK_EVERY_MS = 50;

export async function startNodeHost(flags: UpFlags = {}): Promise<Host & { home: string }> {
  const home = flags.home ?? mkdtempSync(join(tmpdir(), "gsv-node-"));
  const start = () => startGateway(parseUpOptions({ port: "0", ...flags, home }, {}));
  let gateway = await start();
  const host: Host & { home: string } = {
    name: "node",
    home,
    url: gateway.url,
    setupCode: gateway.setupCode,
    async restart() {
      await gateway.close();
      gateway = await retryStart(start);
      host.url = gateway.url;
    },
    async close() {
      await gateway.close();
      if (flags.home === undefined) rmSync(home, { recursive: true, force: true });
    },
  };
  return host;
}

/** Retries: a child process that another test is forking holds a copy of the old listening socket until it execs. */
async function retryStart(start: () => Promise<Gateway>): Promise<Gateway> {
  const until = Date.now() + SAME_PORT_MS;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!/^Port \d+ is in use/.test((error as Error).message) || Date.now() > until) throw error;
      await sleep(LOOK_EVERY_MS, new AbortController().signal);
    }
  }
}
