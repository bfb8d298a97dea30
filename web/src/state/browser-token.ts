// The user token with which this browser logs in again after a reload; the password is never stored. Browsers separate storage by
// origin, so the token reaches only the gateway that issued it. The address to connect to is never read from a link.

import { readItem, writeItem } from "./local-storage.ts";

export type BrowserToken = { username: string; token: string; tokenId: string; expiresAt: number };

export const BROWSER_TOKEN_KEY = "gsv.pass";

export function readBrowserToken(): BrowserToken | null {
  const text = readItem(BROWSER_TOKEN_KEY);
  if (text === null) return null;
  try {
    const { username, token, tokenId, expiresAt } = JSON.parse(text) as Partial<BrowserToken>;
    const isComplete = typeof username === "string" && typeof token === "string" && typeof tokenId === "string";
    if (!isComplete || typeof expiresAt !== "number" || expiresAt <= Date.now()) return null;
    return { username, token, tokenId, expiresAt };
  } catch {
    return null;
  }
}

export function storeBrowserToken(pass: BrowserToken | null): void {
  writeItem(BROWSER_TOKEN_KEY, pass === null ? null : JSON.stringify(pass));
}

/** The label by which a person recognizes the token in a list. */
export function browserLabel(userAgent = navigator.userAgent): string {
  const browser = /Edg\//.test(userAgent)
    ? "Edge"
    : /Firefox\//.test(userAgent)
      ? "Firefox"
      : /Chrom(e|ium)\//.test(userAgent)
        ? "Chrome"
        : /Safari\//.test(userAgent)
          ? "Safari"
          : "a browser";
  const system = /Android|iPhone|iPad|Windows|Mac OS X|CrOS|Linux/.exec(userAgent)?.[0] ?? "an unknown system";
  return `Web desktop: ${browser} on ${system.replace("Mac OS X", "macOS").replace("CrOS", "ChromeOS")}`;
}
