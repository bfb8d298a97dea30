// The display name of a machine's operating system.

import { makeVisible } from "../../../src/approval/visible.ts";

const NAMES: Readonly<Record<string, string>> = { darwin: "macOS", linux: "Linux", win32: "Windows", freebsd: "FreeBSD" };

export function systemName(platform: string): string {
  return (Object.hasOwn(NAMES, platform) ? NAMES[platform] : makeVisible(platform)) || "Unknown system";
}
