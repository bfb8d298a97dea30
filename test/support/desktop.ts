// The web desktop of a real gateway in a real browser. `problems` collects everything that goes wrong in a page: errors, content
// the page's security policy blocked, and requests to any host but the gateway.

import { existsSync } from "node:fs";
import axe from "axe-core";
import type { BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import type { UpFlags } from "../../src/hosts/node/options.ts";
import { leaveBrowser, takeBrowser } from "./browser.ts";
import type { Host } from "./host.ts";
import { startNodeHost } from "./node-host.ts";
import { enter, populate } from "./people.ts";

export type Person = { username: string; password: string };
type StoredToken = { username: string; token: string; tokenId: string; expiresAt: number | null };
type ContextLook = Pick<BrowserContextOptions, "viewport" | "colorScheme" | "hasTouch" | "isMobile" | "reducedMotion">;

export type Desktop = {
  host: Host;
  problems: string[];
  /** A new browser context with nobody logged in. */
  open(path?: string, look?: ContextLook): Promise<Page>;
  /** A new browser context, logged in with a stored token. All contexts of a person share one token. */
  openAs(person: Person, path?: string, look?: ContextLook): Promise<Page>;
  /**
   * The one wide page of this person, opened by the first call, now at `path`: much cheaper than a new context. For tests that
   * leave nothing behind in its storage. They do not close it.
   */
  goAs(person: Person, path?: string): Promise<Page>;
  /** Like `openAs`, with a token of its own, for tests that revoke or expire tokens. */
  openWithOwnToken(person: Person, path?: string, look?: ContextLook): Promise<Page>;
  close(): Promise<void>;
};

export const PHONE: ContextLook = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
export const WIDE: ContextLook = { viewport: { width: 1280, height: 800 } };
const WAIT_MS = 60_000;
/** The rules of axe that check colours. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
const BUILT = new URL("../../dist/downloads/web/index.html", import.meta.url);

/** With `isSetUp`, alice, bob and root exist (people.ts); without it, the gateway waits to be set up. */
export async function startDesktop({ isSetUp = true, flags = {} }: { isSetUp?: boolean; flags?: UpFlags } = {}): Promise<Desktop> {
  if (!existsSync(BUILT)) throw new Error("The web desktop is not built: npm run build");
  const host = await startNodeHost(flags);
  if (isSetUp) await populate(host);
  return desktopOf(host);
}

/**
 * For a gateway of either host that is already running; closing the desktop closes the gateway. Pages are opened at `origin`, which is
 * another of its addresses.
 */
export async function desktopOf(host: Host, { origin }: { origin?: string } = {}): Promise<Desktop> {
  const urlOf = () => origin ?? host.url;
  const browser = await takeBrowser();
  const problems: string[] = [];
  const contexts: BrowserContext[] = [];
  /** By user name. One login per person, because checking a password is slow on purpose. */
  const tokens = new Map<string, Promise<StoredToken>>();
  const openWith = async (path: string, options: BrowserContextOptions) => {
    const context = await browser.newContext({ ...WIDE, reducedMotion: "reduce", ...options });
    contexts.push(context);
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    collectProblems(page, urlOf, problems);
    await page.goto(`${urlOf()}${path}`);
    return page;
  };
  const pages = new Map<string, Page>();
  const openAs = async (person: Person, path = "/", look: ContextLook = {}) => {
    const token = tokens.get(person.username) ?? makeToken(host, person);
    tokens.set(person.username, token);
    return openWith(path, { ...look, storageState: storageStateOf(urlOf(), await token) });
  };
  return {
    host,
    problems,
    open: (path = "/", look = {}) => openWith(path, look),
    openAs,
    async goAs(person, path = "/") {
      const before = pages.get(person.username);
      const page = before ?? (await openAs(person, path));
      if (before === undefined) pages.set(person.username, page);
      else await page.goto(`${urlOf()}${path}`);
      return page;
    },
    async openWithOwnToken(person, path = "/", look = {}) {
      return openWith(path, { ...look, storageState: storageStateOf(urlOf(), await makeToken(host, person)) });
    },
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
      await leaveBrowser();
      await host.close();
    },
  };
}

/** The path of every screen, found by selecting each "Go to" action of the palette. */
export async function screenPaths(page: Page): Promise<string[]> {
  const paths: string[] = [];
  await page.goto(new URL("/nowhere", page.url()).href);
  await page.getByRole("heading", { level: 1 }).waitFor();
  for (let at = 0, count = 1; at < count; at += 1) {
    const { pathname } = new URL(page.url());
    await openPalette(page);
    await page.getByRole("combobox", { name: "Find" }).fill("go to");
    const offered = page.getByRole("option", { name: /^Go to (?!the )/ });
    count = await offered.count();
    await offered.nth(at).click();
    await page.waitForURL((url) => url.pathname !== pathname);
    paths.push(new URL(page.url()).pathname);
  }
  return paths;
}

/** Presses its shortcut until its field has the focus: a new page is visible a moment before it handles keys. */
export async function openPalette(page: Page): Promise<void> {
  const find = page.getByRole("combobox", { name: "Find" });
  while (!(await find.isVisible())) {
    await page.keyboard.press("Control+k");
    await find.waitFor({ timeout: 5_000 }).catch(() => {});
  }
  await hasFocus(find);
}

/**
 * Presses two keys, such as "g m", until the page is at `path`. The second must follow the first soon, which a busy machine may
 * not manage.
 */
export async function goByKeys(page: Page, keys: string, path: string): Promise<void> {
  const isThere = () => new URL(page.url()).pathname === path;
  while (!isThere()) {
    for (const key of keys.split(" ")) await page.keyboard.press(key);
    await page.waitForURL(isThere, { timeout: 5_000 }).catch(() => {});
  }
}

/** Presses a key that focuses the element until the element has the focus. */
export async function focusByKey(element: Locator, key: string): Promise<void> {
  const isThere = () =>
    hasFocus(element, 5_000).then(
      () => true,
      () => false,
    );
  do await element.page().keyboard.press(key);
  while (!(await isThere()));
}

/** Waits: an element gets the focus a moment after it becomes visible. */
export async function hasFocus(element: Locator, timeout = WAIT_MS): Promise<void> {
  await element.and(element.page().locator(":focus")).waitFor({ timeout });
}

/** What axe reports about the page as it is now, one line for each. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return runAxe(page, {});
}

/** For a page whose colours were checked in another width already: they take most of the time. */
export async function violationsBesidesColours(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return runAxe(page, { rules: Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }])) });
}

/**
 * The violations of a page in the light theme, and then those of its colours in the dark theme, since nothing else depends on the
 * theme. The page is light again afterwards.
 */
export async function violationsInBothThemes(page: Page): Promise<string[]> {
  const light = await violations(page);
  await switchTheme(page, "dark");
  const dark = await runAxe(page, { runOnly: { type: "rule", values: COLOUR_RULES } });
  await switchTheme(page, "light");
  return [...light, ...dark.map((line) => `dark: ${line}`)];
}

/** Resolves when the background colour has changed. */
async function switchTheme(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  const before = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await page.emulateMedia({ colorScheme });
  const hasSwitched = await page.evaluate(
    async ({ before, waitMs }) => {
      const until = performance.now() + waitMs;
      while (getComputedStyle(document.documentElement).backgroundColor === before) {
        if (performance.now() > until) return false;
        await new Promise(requestAnimationFrame);
      }
      return true;
    },
    { before, waitMs: WAIT_MS },
  );
  if (!hasSwitched) throw new Error(`The page does not become ${colorScheme}: ${page.url()}`);
}

/** The page must have loaded axe already. */
function runAxe(page: Page, options: object): Promise<string[]> {
  return page.evaluate(async (options) => {
    type Found = { violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[] };
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<Found> } };
    const { violations } = await axe.run({ ...options, resultTypes: ["violations"] });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html} ${failureSummary ?? ""}`),
    );
  }, options);
}

function collectProblems(page: Page, urlOf: () => string, problems: string[]): void {
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => {
    const isBad = message.type() === "error" || message.type() === "warning";
    // A test may stop the gateway on purpose; the failed connections are not problems. Nor is plain http.
    if (isBad && !/ERR_CONNECTION_|WebSocket connection to|Cross-Origin-Opener-Policy header has been ignored/.test(message.text()))
      problems.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (/^https?:$/.test(protocol) && origin !== urlOf()) problems.push(`request: ${request.url()}`);
  });
}

async function makeToken(host: Host, person: Person): Promise<StoredToken> {
  const client = await enter(host, person);
  const { token } = await client.call("sys.token.create", { kind: "user", label: "a test's browser", expiresAt: Date.now() + 3_600_000 });
  client.close();
  return { username: person.username, token: token.token, tokenId: token.tokenId, expiresAt: token.expiresAt };
}

/** What the page stores after a login (web/src/state/browser-token.ts). */
function storageStateOf(origin: string, token: StoredToken): Exclude<BrowserContextOptions["storageState"], string | undefined> {
  return { cookies: [], origins: [{ origin, localStorage: [{ name: "gsv.pass", value: JSON.stringify(token) }] }] };
}
