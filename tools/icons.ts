// Draws the icons of the installed app from the logo, web/public/favicon.svg: node tools/icons.ts. Run it after the logo has changed; git
// keeps the files, so that a build needs no browser.

import { readFileSync, writeFileSync } from "node:fs";
import { leaveBrowser, takeBrowser } from "../test/support/browser.ts";

const PUBLIC = new URL("../web/public/", import.meta.url);
/** `isFilled`: without rounded corners, because the system cuts its own shape out of it. */
const ICONS = [
  { name: "icon-192.png", side: 192, isFilled: false },
  { name: "icon-512.png", side: 512, isFilled: false },
  { name: "icon-maskable-512.png", side: 512, isFilled: true },
  { name: "apple-touch-icon.png", side: 180, isFilled: true },
];

const logo = readFileSync(new URL("favicon.svg", PUBLIC), "utf8");
const page = await (await takeBrowser()).newPage();
for (const { name, side, isFilled } of ICONS) {
  await page.setViewportSize({ width: side, height: side });
  await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>${isFilled ? logo.replace(' rx="8"', "") : logo}`);
  const png = await page.screenshot({ omitBackground: true });
  writeFileSync(new URL(name, PUBLIC), png);
  console.log(`${name}: ${png.length} bytes`);
}
await leaveBrowser();
