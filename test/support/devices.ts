// A real device daemon on a scratch directory, for tests.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningDevice, startDevice } from "../../src/device/device.ts";
import type { Client } from "../../src/client/client.ts";
import type { Host } from "./host.ts";

export type TestDevice = RunningDevice & { deviceId: string; workspace: string };

/**
 * Owned by the user of `owner`, with a token for this device alone. A `waitMs` longer than the default is for commands whose end
 * the test awaits.
 */
export async function plugIn(host: Host, owner: Client, deviceId: string, waitMs = 400): Promise<TestDevice> {
  const { token } = await owner.call("sys.token.create", { kind: "node", allowedDeviceId: deviceId });
  const workspace = mkdtempSync(join(tmpdir(), "gsv-device-"));
  const { username } = owner.session.identity.process;
  const state = mkdtempSync(join(tmpdir(), "gsv-state-"));
  const device = await startDevice({ url: host.url, auth: { username, token: token.token }, deviceId, workspace, state, waitMs });
  return {
    ...device,
    deviceId,
    workspace,
    close() {
      device.close();
      for (const folder of [workspace, state]) rmSync(folder, { recursive: true, force: true });
    },
  };
}
