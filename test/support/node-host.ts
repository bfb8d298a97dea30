// The Node host inside the test's own process, on a scratch directory and a free port.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway } from "../../src/hosts/node/gateway.ts";
import { type UpFlags, upOptions } from "../../src/hosts/node/options.ts";
import type { Host } from "./host.ts";

export async function startNodeHost(flags: UpFlags = {}): Promise<Host & { home: string }> {
  const home = flags.home ?? mkdtempSync(join(tmpdir(), "gsv-node-"));
  const start = () => startGateway(upOptions({ port: "0", ...flags, home }, {}));
  let gateway = await start();
  const host: Host & { home: string } = {
    name: "node",
    home,
    url: gateway.url,
    setupCode: gateway.setupCode,
    async restart() {
      await gateway.close();
      gateway = await start();
      host.url = gateway.url;
    },
    async close() {
      await gateway.close();
      if (flags.home === undefined) rmSync(home, { recursive: true, force: true });
    },
  };
  return host;
}
