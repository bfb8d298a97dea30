// The looks in which every screen is taken, and how a screenshot is taken.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { PHONE, WIDE } from "../../test/support/desktop.ts";

export const LOOKS = {
  light: { ...WIDE, colorScheme: "light" },
  dark: { ...WIDE, colorScheme: "dark" },
  phone: { ...PHONE, colorScheme: "light" },
} as const;
export type Look = keyof typeof LOOKS;

/** `isWhole`: all of the page, although its pane scrolls. */
export type Shoot = (page: Page, name: string, isWhole?: boolean) => Promise<void>;

/** Taller pages are cut off. */
const HEIGHT_MAX = 3_000;
const QUALITY = 82;

/** WebP is a third of the size of PNG, which more viewers know. */
export function shootInto(folder: string, format: "webp" | "png"): Shoot {
  mkdirSync(folder, { recursive: true });
  return async (page, name, isWhole = false) => {
    const size = page.viewportSize()!;
    await page.getByRole("heading").first().waitFor();
    await page.waitForLoadState("networkidle");
    await page.evaluate(() => document.fonts.ready.then(() => {}));
    if (isWhole) {
      const hidden = await page.evaluate(() => {
        const body = document.querySelector(".pane-body");
        return body === null ? 0 : body.scrollHeight - body.clientHeight;
      });
      await page.setViewportSize({ ...size, height: Math.min(size.height + hidden, HEIGHT_MAX) });
    }
    const devtools = await page.context().newCDPSession(page);
    const { data } = await devtools.send("Page.captureScreenshot", format === "png" ? { format } : { format, quality: QUALITY });
    await devtools.detach();
    writeFileSync(join(folder, `${name}.${format}`), Buffer.from(data, "base64"));
    await page.setViewportSize(size);
  };
}
