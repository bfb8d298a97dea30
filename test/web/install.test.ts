// GSV as an installed app: its manifest and icons as Chromium reads them, the offer to install it, the number on its icon, and the notch.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { describeInstallation } from "../../web/src/install/describe-installation.ts";
import { type Desktop, openPalette, PHONE, startDesktop } from "../support/desktop.ts";
import { ALICE, enter } from "../support/people.ts";
import { askFor } from "../support/questions.ts";

let desktop: Desktop;
let alice: Client;

beforeAll(async () => {
  desktop = await startDesktop();
  alice = await enter(desktop.host, ALICE);
});

afterAll(async () => {
  alice?.close();
  await desktop?.close();
});

test("Chromium reads the manifest as it is meant, and its icons are what it says", async () => {
  const page = await desktop.goAs(ALICE);
  const devTools = await page.context().newCDPSession(page);
  const { url, errors, data, manifest: read } = await devTools.send("Page.getAppManifest");
  expect([url, errors]).toEqual([`${desktop.host.url}/manifest.webmanifest`, []]);
  const home = `${desktop.host.url}/`;
  expect(read).toMatchObject({ id: home, startUrl: home, scope: home, display: "kStandalone" });
  // A full Chromium also says what would keep it from being installed; a headless shell never finds anything.
  const { installabilityErrors } = await devTools.send("Page.getInstallabilityErrors");
  expect(installabilityErrors.filter(({ errorId }) => errorId !== "in-incognito")).toEqual([]);
  const manifest = JSON.parse(data!) as { icons: { src: string; sizes: string; type: string }[]; shortcuts: { url: string }[] };
  const apple = (await page.locator("link[rel=apple-touch-icon]").getAttribute("href"))!;
  for (const { src, sizes, type } of [...manifest.icons, { src: apple, sizes: "180x180", type: "image/png" }]) {
    const [size, sent] = await page.evaluate(async (from) => {
      const image = Object.assign(new Image(), { src: from });
      await image.decode();
      return [`${image.naturalWidth}x${image.naturalHeight}`, (await fetch(from)).headers.get("content-type")];
    }, src);
    expect([src, sizes === "any" ? sizes : size, sent]).toEqual([src, sizes, type]);
  }
  for (const shortcut of manifest.shortcuts) {
    await page.goto(`${desktop.host.url}${shortcut.url}`);
    await page.getByRole("heading", { level: 1, name: /^(?:Chat|Approvals)/ }).waitFor();
  }
});

test("an offer of the browser is used once, from the palette or Settings; without one, Settings says how", async () => {
  const page = await desktop.openAs(ALICE, "/settings/account");
  const card = page.locator(".card").filter({ hasText: "Install GSV" });
  await card.getByText("Look for Install in the address bar").waitFor();
  // A browser without a screen makes no offers: this is the event as Chromium sends it.
  const isHeld = await page.evaluate(() => {
    const prompt = () => {
      document.title = "Asked";
      return Promise.resolve({ outcome: "dismissed" });
    };
    return !dispatchEvent(Object.assign(new Event("beforeinstallprompt", { cancelable: true }), { prompt }));
  });
  expect(isHeld, "no bar of Chromium over the page").toBe(true);
  await card.getByRole("button", { name: "Install app" }).waitFor();
  await openPalette(page);
  await page.getByRole("combobox").fill("install app");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.title()).toBe("Asked");
  await card.getByText("Look for Install in the address bar").waitFor();
  await page.context().close();
});

test("the icon of the installed app shows how many questions wait, and none after signing out", async () => {
  const page = await desktop.openWithOwnToken(ALICE, "/healthz");
  // As Safari says that it is the app; the number itself is drawn by the system.
  await page.addInitScript(() => {
    const show = (count: number) => Promise.resolve(sessionStorage.setItem("badge", String(count)));
    Object.assign(navigator, { standalone: true, setAppBadge: show, clearAppBadge: () => show(-1) });
  });
  const badge = () => page.evaluate(() => sessionStorage.getItem("badge"));
  await page.goto(`${desktop.host.url}/settings/account`);
  await expect.poll(badge).toBe("0");
  const { pid, requestId } = await askFor(alice, "delete ~/old.txt");
  await expect.poll(badge).toBe("1");
  await alice.call("proc.hil", { pid, requestId, decision: "deny" });
  await expect.poll(badge).toBe("0");
  expect(await page.getByText("Install GSV").count(), "it is installed").toBe(0);
  await page.getByRole("button", { name: "Sign out" }).first().click();
  await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  expect(await badge()).toBe("-1");
  await page.context().close();
});

test("nothing lies behind the notch or the home indicator of a phone", async () => {
  const insets = { top: 47, bottom: 34, left: 0, right: 0 };
  const page = await desktop.openAs(ALICE, "/", PHONE);
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("Emulation.setSafeAreaInsetsOverride", { insets });
  const title = page.getByRole("heading", { level: 1, name: "Home" });
  await expect.poll(async () => (await title.boundingBox())!.y).toBeGreaterThanOrEqual(insets.top);
  const bar = (await page.getByRole("navigation", { name: "Screens" }).boundingBox())!;
  expect(bar.y + bar.height).toBeLessThanOrEqual(PHONE.viewport!.height - insets.bottom);
  await page.context().close();
  expect(desktop.problems).toEqual([]);
});

test("each browser is told how it installs an app", () => {
  const told = (userAgent: string, isSecure = true, maxTouchPoints = 0) => describeInstallation({ userAgent, maxTouchPoints }, isSecure);
  expect(told("Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) Safari/604.1", false)).toContain("Add to Home Screen");
  expect(told("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605.1.15", true, 5)).toContain("Add to Home Screen");
  expect(told("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/26.0 Safari/605.1.15")).toContain("Add to Dock");
  expect(told("Mozilla/5.0 (Linux; Android 16) Firefox/150.0")).toContain("menu of your browser");
  expect(told("Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0")).toContain("Firefox does not install apps");
  expect(told("Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0", false)).toContain("https address");
});
