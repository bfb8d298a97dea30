// What lets this browser in again after a reload: a user token of its own, never the password. Browsers keep storage apart
// by origin, so it can reach no other gateway than the one that gave it; where to connect to is never read from a link.

import { store, stored } from "./stored.ts";

export type Pass = { username: string; token: string; tokenId: string; expiresAt: number };

export const PASS_KEY = "gsv.pass";

export function readPass(): Pass | null {
  const text = stored(PASS_KEY);
  if (text === null) return null;
  try {
    const { username, token, tokenId, expiresAt } = JSON.parse(text) as Partial<Pass>;
    const isWhole = typeof username === "string" && typeof token === "string" && typeof tokenId === "string";
    if (!isWhole || typeof expiresAt !== "number" || expiresAt <= Date.now()) return null;
    return { username, token, tokenId, expiresAt };
  } catch {
    return null;
  }
}

export function keepPass(pass: Pass | null): void {
  store(PASS_KEY, pass === null ? null : JSON.stringify(pass));
}

/** How a person will find it in a list of tokens. */
export function browserLabel(agent = navigator.userAgent): string {
  const browser = /Edg\//.test(agent)
    ? "Edge"
    : /Firefox\//.test(agent)
      ? "Firefox"
      : /Chrom(e|ium)\//.test(agent)
        ? "Chrome"
        : /Safari\//.test(agent)
          ? "Safari"
          : "a browser";
  const system = /Android|iPhone|iPad|Windows|Mac OS X|CrOS|Linux/.exec(agent)?.[0] ?? "an unknown system";
  return `Web desktop: ${browser} on ${system.replace("Mac OS X", "macOS").replace("CrOS", "ChromeOS")}`;
}
