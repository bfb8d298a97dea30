// The names of this machine's operating system and user.

import { userInfo } from "node:os";

/** Empty if the user has only a uid, as in some containers. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}

export function systemName(): string {
  const names: Partial<Record<NodeJS.Platform, string>> = { darwin: "macos", win32: "windows" };
  return names[process.platform] ?? process.platform;
}
