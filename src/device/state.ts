// Where a daemon keeps the state it needs after a restart: one folder per device, beside the gateway's own data.

import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";

const NAME_CHARS_MAX = 100;

export function stateFolder(deviceId: string, env: NodeJS.ProcessEnv = process.env): string {
  return join(env.GSV_HOME || join(homedir(), ".gsv"), "device", folderName(deviceId));
}

/** Records of the uploads to this machine that its daemons and `gsv cp` have started. */
export function partsFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(env.GSV_HOME || join(homedir(), ".gsv"), "parts");
}

/** Device names may contain any character; folder names may not. */
function folderName(deviceId: string): string {
  const name = encodeURIComponent(deviceId).replaceAll(".", "%2E").replaceAll("*", "%2A");
  return name.length <= NAME_CHARS_MAX ? name : createHash("sha256").update(deviceId).digest("hex");
}
