// Where a daemon keeps what it must know again after a restart: one folder per device, beside the gateway's own data.

import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";

const NAME_CHARS_MAX = 100;

export function stateFolder(deviceId: string, env: NodeJS.ProcessEnv = process.env): string {
  return join(env.GSV_HOME || join(homedir(), ".gsv"), "device", folderName(deviceId));
}

/** Which files on their way to this machine were begun here: of its daemons and of `gsv cp`. */
export function partsFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(env.GSV_HOME || join(homedir(), ".gsv"), "parts");
}

/** A device may be called anything; a folder may not. */
function folderName(deviceId: string): string {
  const name = encodeURIComponent(deviceId).replaceAll(".", "%2E").replaceAll("*", "%2A");
  return name.length <= NAME_CHARS_MAX ? name : createHash("sha256").update(deviceId).digest("hex");
}
