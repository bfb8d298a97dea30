// What this machine calls itself and its user.

import { userInfo } from "node:os";

/** Empty where there is only a number, as in some containers. */
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
