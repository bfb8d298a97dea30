// Checks of a page: a text is there, nothing was made of it, and nothing in it is hidden.

import type { Page } from "playwright-core";

const WAIT_MS = 30_000;
const EVERY_MS = 50;

/** Call it before a page loads: counts every payload that runs. */
export async function arm(page: Page): Promise<void> {
  page.on("dialog", (dialog) => void dialog.dismiss());
  await page.addInitScript(() => {
    const world = globalThis as unknown as { ran: string[]; pwned: (mark: string) => void };
    world.ran = [];
    world.pwned = (mark) => void world.ran.push(mark);
  });
}

/** Waits until the screen is there and nothing is loading; expands everything that is collapsed. */
export async function opened(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await until(async () => (await page.locator(".skeleton").count()) === 0);
  const others = page.getByLabel("Show those of other users, too");
  if ((await others.count()) > 0) await others.check();
  while ((await page.getByRole("button", { name: "Show older" }).count()) > 0) {
    const before = await page.getByRole("listitem").count();
    await page.getByRole("button", { name: "Show older" }).click();
    await until(async () => (await page.getByRole("listitem").count()) > before || !(await isOffered(page)));
  }
  const folded = page.locator(".pane-body button[aria-expanded=false]:not([aria-haspopup])");
  // What is unfolded may hold more that is folded, such as the calls of a group.
  for (let level = 0; level < LEVELS && (await folded.count()) > 0; level += 1)
    await folded.evaluateAll((all) => {
      for (const one of all) (one as HTMLElement).click();
    });
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
}

/** How deep things are folded at most. */
const LEVELS = 3;

async function isOffered(page: Page): Promise<boolean> {
  return (await page.getByRole("button", { name: "Show older" }).count()) > 0;
}

/** The marks that do not appear on the page in time. */
export async function seen(page: Page, marks: readonly string[]): Promise<string[]> {
  let missing: string[] = [...marks];
  await until(async () => {
    const text = await page.evaluate(() => document.querySelector(".panes")?.textContent ?? "");
    missing = missing.filter((mark) => !text.includes(mark));
    return missing.length === 0;
  });
  return missing;
}

/** What payloads caused: scripts that ran, and elements and attributes that the desktop itself never has. */
export function harm(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const world = globalThis as unknown as { ran?: string[] };
    const found = (world.ran ?? []).map((mark) => `ran ${mark}`);
    const strange =
      "script:not([src^='/']), style, iframe, object, embed, video[autoplay], audio[autoplay], base, meta[http-equiv], form[action], marquee, math, template, link[rel=prefetch], svg:not(.icon, .mark, .meter-ring, .gauge-bar, .home-plot), image, use";
    for (const element of document.querySelectorAll(strange)) found.push(`made ${element.outerHTML.slice(0, 120)}`);
    for (const element of document.querySelectorAll("*")) {
      for (const { name, value } of element.attributes) {
        const isAddress = name === "href" || name === "src" || name === "action" || name === "data" || name.endsWith(":href");
        const isBad = isAddress && /^\s*(?:javascript|vbscript|data:text)/i.test(value);
        if (name.startsWith("on") || isBad) found.push(`${element.localName} has ${name}=${value.slice(0, 80)}`);
        const isFetched = name === "src" && !/^(?:\/|blob:|data:image\/)/.test(value);
        if (isFetched) found.push(`${element.localName} fetches ${value.slice(0, 80)}`);
      }
    }
    if ("polluted" in {}) found.push("a prototype was changed");
    return found;
  });
}

/** Invisible and bidirectional characters, where a person decides by what is shown. */
export function hiddenSigns(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const text = document.querySelector(".pane-body")?.textContent ?? "";
    // Of control characters only line feeds and tabs may stay; no invisible character may.
    return [...text.matchAll(/(?![\t\n])[\p{Cc}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu)].map(
      ({ 0: sign, index }) =>
        `U+${sign.codePointAt(0)!.toString(16)} near ${JSON.stringify(text.slice(Math.max(0, index - 20), index + 20))}`,
    );
  });
}

export async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + WAIT_MS;
  while (!(await condition()) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
