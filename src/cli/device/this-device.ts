// This machine's settings as a device: from GSV_DEVICE_TOKEN, flags, and the section `node` of the configuration, in this order.
// The stored token is used only for the gateway and the device id it was stored for.

import { homedir, hostname } from "node:os";
import { resolve } from "node:path";
import { type Address, parseGatewayAddress } from "../session/address.ts";
import {
  configPath,
  configuredUrl,
  credentialsFor,
  type DeviceSettings,
  deviceSettings,
  type LocalConfig,
  readConfig,
} from "../session/config-file.ts";
import { Problem } from "../terminal/problem.ts";
import type { Globals } from "../session/session.ts";
import { printNote } from "../terminal/terminal.ts";

export type DeviceFlags = Globals & { id?: string; workspace?: string };

export type ThisDevice = {
  config: LocalConfig;
  stored: DeviceSettings;
  address: Address;
  deviceId: string;
  workspace: string;
  username: string | undefined;
  token: string | undefined;
};

/** `workspace` is where relative paths begin if neither a flag nor the configuration says so. */
export function resolveThisDevice(flags: DeviceFlags, workspace = "."): ThisDevice {
  const config = readConfig(configPath());
  const stored = deviceSettings(config);
  const address = parseGatewayAddress(flags.url || stored.url || configuredUrl(config.table));
  const deviceId = flags.id ?? stored.id ?? `node-${hostname()}`;
  const isStored =
    (stored.id === undefined || stored.id === deviceId) && parseGatewayAddress(stored.url ?? address.url).origin === address.origin;
  return {
    config,
    stored,
    address,
    deviceId,
    workspace: resolve(expandHome(flags.workspace ?? stored.workspace ?? workspace)),
    username: flags.user || (isStored ? stored.username : undefined) || credentialsFor(config, address.origin).username,
    token: process.env.GSV_DEVICE_TOKEN || flags.token || (isStored ? stored.token : undefined),
  };
}

/** Throws a Problem that names what is missing. */
export function requireDeviceCredentials({
  config,
  deviceId,
  username,
  token,
  ...rest
}: ThisDevice): ThisDevice & { username: string; token: string } {
  if (token === undefined) {
    if (config.looseMode !== null)
      printNote(`gsv: warning: ${config.file} has mode ${config.looseMode}, so the token in it is not used. Run: chmod 600 ${config.file}`);
    throw new Problem(
      `This device needs a token: gsv token create --device ${deviceId} prints the command to run here; or set GSV_DEVICE_TOKEN`,
    );
  }
  if (username === undefined) throw new Problem("The owner of the device is not known: add --user NAME");
  return { config, deviceId, username, token, ...rest };
}

function expandHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? homedir() + path.slice(1) : path;
}
