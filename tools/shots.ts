// Takes screenshots of every screen of the web desktop, light, dark and on a phone, into the given folder, to review how it
// looks: npm run shots -- FOLDER

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { type Desktop, PHONE, screenPaths, startDesktop, WIDE } from "../test/support/desktop.ts";
import { everyStep, withFresh } from "../test/support/onboarding.ts";
import { ALICE } from "../test/support/people.ts";

const LOOKS = {
  light: { ...WIDE, colorScheme: "light" },
  dark: { ...WIDE, colorScheme: "dark" },
  phone: { ...PHONE, colorScheme: "light" },
} as const;

const folder = process.argv[2];
if (folder === undefined) {
  console.error("usage: npm run shots -- FOLDER");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const desktop = await startDesktop();
try {
  for (const look of Object.keys(LOOKS) as (keyof typeof LOOKS)[]) {
    await withFresh(async (fresh) => {
      const page = await fresh.open("/", LOOKS[look]);
      await everyStep(page, (name) => shoot(page, `setup-${name.replaceAll(" ", "-")}-${look}`));
    });
    await shoot(await desktop.open("/", LOOKS[look]), `login-${look}`);
    await screens(desktop, look);
  }
} finally {
  await desktop.close();
}

async function screens(desktop: Desktop, look: keyof typeof LOOKS): Promise<void> {
  const page = await desktop.openAs(ALICE, "/", LOOKS[look]);
  const paths = await screenPaths(page);
  for (const path of [...paths, "/chat?beside=/machines", "/nowhere"]) {
    await page.goto(`${desktop.host.url}${path}`);
    await shoot(page, `${path === "/" ? "home" : path.slice(1).replace(/\W+/g, "-")}-${look}`);
  }
  await page.keyboard.press("Control+k");
  await shoot(page, `palette-${look}`);
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await shoot(page, `keys-${look}`);
  await page.context().close();
}

async function shoot(page: Page, name: string): Promise<void> {
  // Shows the whole gallery of components, although its pane scrolls.
  const size = page.viewportSize()!;
  if (name.startsWith("pieces")) await page.setViewportSize({ ...size, height: size.width > 1000 ? 1700 : 3400 });
  await page.getByRole("heading").first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: join(folder!, `${name}.png`) });
  await page.setViewportSize(size);
}
