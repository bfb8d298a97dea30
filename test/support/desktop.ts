// The web desktop of a real gateway in a real browser. Everything that goes wrong in a page without a test's asking is kept
// in `problems`: errors, what the policy of the page blocked, and requests to anybody but the gateway.

import { existsSync } from "node:fs";
import axe from "axe-core";
import type { BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import type { UpFlags } from "../../src/hosts/node/options.ts";
import { leaveBrowser, takeBrowser } from "./browser.ts";
import type { Host } from "./host.ts";
import { startNodeHost } from "./node-host.ts";
import { enter, populate } from "./people.ts";

export type Person = { username: string; password: string };
type Look = Pick<BrowserContextOptions, "viewport" | "colorScheme" | "hasTouch" | "isMobile" | "reducedMotion">;

export type Desktop = {
  host: Host;
  problems: string[];
  /** A browser of its own with nobody logged in. */
  open(path?: string, look?: Look): Promise<Page>;
  /** The same, logged in as if it had been before. */
  openAs(person: Person, path?: string, look?: Look): Promise<Page>;
  close(): Promise<void>;
};

export const PHONE: Look = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
export const WIDE: Look = { viewport: { width: 1280, height: 800 } };
const WAIT_MS = 60_000;
const BUILT = new URL("../../dist/downloads/web/index.html", import.meta.url);

/** `isSetUp`: alice, bob and root are there (people.ts); else the gateway waits to be set up. */
export async function startDesktop({ isSetUp = true, flags = {} }: { isSetUp?: boolean; flags?: UpFlags } = {}): Promise<Desktop> {
  if (!existsSync(BUILT)) throw new Error("The web desktop is not built: npm run build");
  const host = await startNodeHost(flags);
  if (isSetUp) await populate(host);
  return desktopOf(host);
}

/** For a gateway of any kind that is running already; closing the desktop closes it. */
export async function desktopOf(host: Host): Promise<Desktop> {
  const browser = await takeBrowser();
  const problems: string[] = [];
  const contexts: BrowserContext[] = [];
  const openWith = async (path: string, options: BrowserContextOptions) => {
    const context = await browser.newContext({ ...WIDE, reducedMotion: "reduce", ...options });
    contexts.push(context);
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    watch(page, host, problems);
    await page.goto(`${host.url}${path}`);
    return page;
  };
  return {
    host,
    problems,
    open: (path = "/", look = {}) => openWith(path, look),
    openAs: async (person, path = "/", look = {}) => openWith(path, { ...look, storageState: await passFor(host, person) }),
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
      await leaveBrowser();
      await host.close();
    },
  };
}

/** The address of every screen there is, by going to each as the palette offers it. */
export async function screenPaths(page: Page): Promise<string[]> {
  const paths: string[] = [];
  for (let at = 0, count = 1; at < count; at += 1) {
    await page.goto(new URL("/nowhere", page.url()).href);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await openPalette(page);
    await page.getByRole("combobox", { name: "Find an action" }).fill("go to");
    const offered = page.getByRole("option", { name: /^Go to (?!the )/ });
    count = await offered.count();
    await offered.nth(at).click();
    await page.waitForURL((url) => url.pathname !== "/nowhere");
    paths.push(new URL(page.url()).pathname);
  }
  return paths;
}

/** By its keys, until one can type. A page that has just come listens to keys a moment after it shows itself. */
export async function openPalette(page: Page): Promise<void> {
  const find = page.getByRole("combobox", { name: "Find an action" });
  while (!(await find.isVisible())) {
    await page.keyboard.press("Control+k");
    await find.waitFor({ timeout: 5_000 }).catch(() => {});
  }
  await hasFocus(find);
}

/** By two keys, as "g m". The second must come soon after the first, which a busy machine may not manage at once. */
export async function goByKeys(page: Page, keys: string, path: string): Promise<void> {
  const isThere = () => new URL(page.url()).pathname === path;
  while (!isThere()) {
    for (const key of keys.split(" ")) await page.keyboard.press(key);
    await page.waitForURL(isThere, { timeout: 5_000 }).catch(() => {});
  }
}

/** By a key that puts the focus there. */
export async function focusByKey(element: Locator, key: string): Promise<void> {
  const isThere = () =>
    hasFocus(element, 5_000).then(
      () => true,
      () => false,
    );
  do await element.page().keyboard.press(key);
  while (!(await isThere()));
}

/** What is shown gets the focus a moment later. */
export async function hasFocus(element: Locator, timeout = WAIT_MS): Promise<void> {
  await element.and(element.page().locator(":focus")).waitFor({ timeout });
}

/** What axe finds wrong with the page as it is now, one line for each. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    type Found = { violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[] };
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<Found> } };
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html} ${failureSummary ?? ""}`),
    );
  });
}

function watch(page: Page, host: Host, problems: string[]): void {
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => {
    const isBad = message.type() === "error" || message.type() === "warning";
    // A gateway that was stopped on purpose cannot be reached.
    if (isBad && !/ERR_CONNECTION_|WebSocket connection to/.test(message.text())) problems.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (/^https?:$/.test(protocol) && origin !== host.url) problems.push(`request: ${request.url()}`);
  });
}

/** What the page keeps after a login (web/src/state/pass.ts). */
async function passFor(
  host: Host,
  { username, password }: Person,
): Promise<{ cookies: []; origins: { origin: string; localStorage: { name: string; value: string }[] }[] }> {
  const client = await enter(host, { username, password });
  const { token } = await client.call("sys.token.create", { kind: "user", label: "a test's browser", expiresAt: Date.now() + 3_600_000 });
  client.close();
  const value = JSON.stringify({ username, token: token.token, tokenId: token.tokenId, expiresAt: token.expiresAt });
  return { cookies: [], origins: [{ origin: host.url, localStorage: [{ name: "gsv.pass", value }] }] };
}
