// The frame of the web desktop, in a real browser against a real gateway.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import {
  type Desktop,
  goByKeys,
  hasFocus,
  openPalette,
  PHONE,
  screenPaths,
  startDesktop,
  violationsInBothThemes,
} from "../support/desktop.ts";
import { ALICE, BOB, enter } from "../support/people.ts";

/** axe inspects every element of every screen, which is slow on a slow machine. */
const AXE_MS = 5 * 60_000;

let desktop: Desktop;

beforeAll(async () => {
  desktop = await startDesktop();
});

afterAll(() => desktop?.close());

describe("the session", () => {
  test("starts with a password, survives a reload without storing it, and ends with a logout", async () => {
    const page = await desktop.open("/machines");
    await logIn(page, ALICE);
    await page.getByRole("heading", { level: 1, name: "Machines" }).waitFor();
    const kept = await page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]));
    expect(kept).toContain("gsv_user_");
    expect(kept).not.toContain(ALICE.password);

    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Machines" }).waitFor();
    const client = await enter(desktop.host, ALICE);
    expect(await labelsOf(client)).toContainEqual(expect.stringMatching(/^Web desktop: \w+ on \w+$/));

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await page.evaluate(() => Object.entries(localStorage)), "only the name is remembered").toEqual([["gsv.name", "alice"]]);
    expect(await page.getByLabel("User name").inputValue()).toBe("alice");
    await hasFocus(page.getByLabel("Password"));
    await expect.poll(() => labelsOf(client)).not.toContainEqual(expect.stringMatching(/^Web desktop/));
    client.close();
    await page.context().close();
  });

  test("says what to do about a wrong password, and stores nothing", async () => {
    const page = await desktop.open();
    await logIn(page, { ...ALICE, password: "a wrong one" });
    await page.getByRole("alert").filter({ hasText: "do not match" }).waitFor();
    expect(await page.evaluate(() => localStorage.length)).toBe(0);
    expect(await page.getByLabel("Password").inputValue()).toBe("");
    await hasFocus(page.getByLabel("Password"));
    await page.context().close();
  });

  test("ends at once when its token is revoked, and says so", async () => {
    const page = await desktop.openWithOwnToken(BOB);
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    const client = await enter(desktop.host, BOB);
    const { tokens } = await client.call("sys.token.list", {});
    for (const { tokenId } of tokens) await client.call("sys.token.revoke", { tokenId });
    client.close();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.getByText("You were signed out").waitFor();
    await page.context().close();
  });

  test("continues with the newer token of another tab instead of discarding it", async () => {
    const page = await desktop.openWithOwnToken(BOB);
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    // Another tab has stored the token of a newer login by the time this one learns that its own was revoked.
    const newer = await desktop.openWithOwnToken(BOB, "/healthz");
    const kept = await newer.evaluate(() => localStorage.getItem("gsv.pass")!);
    await page.evaluate((value) => localStorage.setItem("gsv.pass", value), kept);
    const loaded = page.waitForEvent("load");
    const client = await enter(desktop.host, BOB);
    const { tokens } = await client.call("sys.token.list", {});
    const { tokenId } = JSON.parse(kept) as { tokenId: string };
    for (const token of tokens) if (token.tokenId !== tokenId) await client.call("sys.token.revoke", { tokenId: token.tokenId });
    client.close();
    await loaded;
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    expect(await page.evaluate(() => localStorage.getItem("gsv.pass"))).toBe(kept);
    await newer.context().close();
    await page.context().close();
  });

  test("is taken over by the first tab when a second tab logs in", async () => {
    const page = await desktop.open("/settings");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    const second = await page.context().newPage();
    await second.goto(desktop.host.url);
    await logIn(second, ALICE);
    await second.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await page.context().close();
  });
});

describe("addresses", () => {
  test("match what is shown, through links, back and forward", async () => {
    const page = await desktop.goAs(ALICE, "/approvals");
    await page.getByRole("heading", { level: 1, name: "Approvals" }).waitFor();
    await expect.poll(() => page.title()).toBe("Approvals · GSV");
    await page.getByRole("navigation").getByRole("link", { name: "Chat" }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe("/chat");
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Approvals" }).waitFor();
    await page.goForward();
    await page.getByRole("heading", { level: 1, name: "Chat" }).waitFor();
    await page.goto(`${desktop.host.url}/nowhere/at-all`);
    await page.getByRole("heading", { name: "There is nothing at this address" }).waitFor();
  });

  test("hold two panes on a wide screen", async () => {
    const page = await desktop.goAs(ALICE, "/chat?beside=/machines");
    await page.getByRole("heading", { level: 1, name: "Chat" }).waitFor();
    await page.getByRole("heading", { level: 1, name: "Machines" }).waitFor();
    await page.getByRole("button", { name: "Close the pane Chat" }).click();
    await expect.poll(() => page.url()).toBe(`${desktop.host.url}/machines`);
    expect(await page.getByRole("heading", { level: 1, name: "Chat" }).count()).toBe(0);
    await page.getByRole("button", { name: "Open a second pane beside" }).click();
    await expect.poll(() => page.url()).toBe(`${desktop.host.url}/machines?beside=/`);
    await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
    await expect.poll(() => page.url()).toBe(`${desktop.host.url}/machines?beside=/settings`);
  });

  test("with another origin lead nowhere else", async () => {
    const page = await desktop.goAs(ALICE, "/chat?beside=https://example.com/machines&gatewayUrl=ws://127.0.0.1:1&token=x");
    await page.getByRole("heading", { level: 1, name: "Chat" }).waitFor();
    await page.getByRole("heading", { name: "There is nothing at this address" }).waitFor();
  });
});

describe("the keyboard", () => {
  test("finds and runs every action through the palette", async () => {
    const page = await desktop.openAs(ALICE);
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await openPalette(page);
    const find = page.getByRole("combobox", { name: "Find" });
    await find.fill("mach bes");
    await page.getByRole("option", { name: "Open Machines beside" }).waitFor();
    expect(await page.getByRole("option").count()).toBe(1);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Machines" }).waitFor();
    await openPalette(page);
    await find.fill("dark");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    await page.reload();
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    await page.context().close();
  });

  test("opens screens, shows the shortcuts and moves the focus to the opened screen", async () => {
    const page = await desktop.goAs(ALICE);
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await goByKeys(page, "g m", "/machines");
    await expect.poll(() => focused(page)).toBe("Machines");
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keys" });
    await keys.getByText("Go to Settings").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => keys.count()).toBe(0);
    await expect.poll(() => focused(page)).toBe("Machines");
  });

  test("is enough to log in, use a screen, and log out", async () => {
    const page = await desktop.open("/pieces");
    await hasFocus(page.getByLabel("Name"));
    await page.keyboard.type(ALICE.username);
    await page.keyboard.press("Tab");
    await page.keyboard.type(ALICE.password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Over the page" }).waitFor();
    await runFromPalette(page, "dialog of");
    const dialog = page.getByRole("dialog", { name: "Forget laptop?" });
    await hasFocus(dialog);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Keep it");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await runFromPalette(page, "log out");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.context().close();
  });

  test("skips the navigation bar with one press", async () => {
    const page = await desktop.goAs(ALICE);
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Skip to content");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("content");
  });
});

test("the keys of a screen act only in the pane that was used last", async () => {
  const page = await desktop.openAs(ALICE, "/machines?beside=/chat/init:1000/default");
  const field = page.getByRole("textbox", { name: "Message" });
  await field.waitFor();
  await page.getByRole("heading", { level: 1, name: "Machines" }).click();
  await openPalette(page);
  await page.getByRole("combobox", { name: "Find" }).fill("search this conversation");
  await page.getByText("No results").waitFor();
  await page.keyboard.press("Escape");
  await field.click();
  await openPalette(page);
  await page.getByRole("combobox", { name: "Find" }).fill("search this conversation");
  await page.getByRole("option", { name: /^Search this conversation/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.context().close();
});

test("a press that begins in a dialog and ends beside it leaves it open", async () => {
  const page = await desktop.goAs(ALICE, "/pieces");
  await page.getByRole("button", { name: "Open a dialog" }).click();
  const dialog = page.getByRole("dialog");
  const box = (await dialog.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x - 40, box.y + 20);
  await page.mouse.up();
  expect(await dialog.isVisible()).toBe(true);
  await page.mouse.click(box.x - 40, box.y + 20);
  await dialog.waitFor({ state: "detached" });
});

test("a phone shows one column with the bar below, and the other pane through a button", async () => {
  const page = await desktop.openAs(ALICE, "/chat?beside=/machines", PHONE);
  await page.getByRole("heading", { level: 1, name: "Chat" }).waitFor();
  expect(await page.getByRole("heading", { level: 1, name: "Machines" }).isVisible()).toBe(false);
  await page.getByRole("button", { name: "Show the other pane" }).tap();
  await page.getByRole("heading", { level: 1, name: "Machines" }).waitFor();
  const bar = (await page.getByRole("navigation", { name: "Screens" }).boundingBox())!;
  expect(bar.y + bar.height).toBeCloseTo(780, 0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await page.getByRole("button", { name: "Find" }).last().tap();
  await page.getByRole("combobox", { name: "Find" }).waitFor();
  await page.context().close();
});

describe("axe finds no violations in either theme", () => {
  test("on the login page", async () => {
    const page = await desktop.open();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.context().close();
  });

  test("on any screen", { timeout: AXE_MS }, async () => {
    const page = await desktop.goAs(ALICE, "/");
    const paths = await screenPaths(page);
    expect(paths).toContain("/pieces");
    for (const path of [...paths, "/chat?beside=/machines", "/nowhere"]) {
      await page.goto(`${desktop.host.url}${path}`);
      await waitForScreens(page);
      expect(await violationsInBothThemes(page), path).toEqual([]);
    }
  });

  test("in dialogs and other overlays", { timeout: AXE_MS }, async () => {
    const page = await desktop.goAs(ALICE, "/pieces");
    await page.getByRole("button", { name: "Open a dialog" }).click();
    await page.getByRole("dialog").waitFor();
    expect(await violationsInBothThemes(page), "dialog").toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "What to do with laptop" }).click();
    await page.getByRole("menu").waitFor();
    expect(await violationsInBothThemes(page), "menu").toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "A bad notice" }).click();
    await page.keyboard.press("Control+k");
    await page.getByRole("listbox").waitFor();
    expect(await violationsInBothThemes(page), "palette").toEqual([]);
  });
});

test("a screen that cannot be loaded says so, and loads after a reload", async () => {
  const page = await desktop.openAs(ALICE, "/nowhere");
  await page.route("**/assets/settings-*.js", (route) => route.abort());
  await page.goto(`${desktop.host.url}/settings`);
  await page.getByText("This part could not be loaded").waitFor();
  await page.unroute("**/assets/settings-*.js");
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByText("This part could not be loaded").waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  await page.context().close();
  const expected = desktop.problems.filter((problem) => problem.includes("ERR_FAILED"));
  expect(desktop.problems.splice(0)).toEqual(expected);
});

test("a page of another origin can neither connect nor read", async () => {
  const server = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<!doctype html><title>elsewhere</title>"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const page = await desktop.openAs(ALICE);
  const { host } = desktop;
  try {
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const tried = await page.evaluate(async (url) => {
      const socket = await new Promise((resolve) => {
        const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
        socket.addEventListener("open", () => resolve("open"));
        socket.addEventListener("error", () => resolve("refused"));
      });
      const read = await fetch(url).then(
        () => "read",
        () => "refused",
      );
      return { socket, read, stored: localStorage.length };
    }, host.url);
    expect(tried).toEqual({ socket: "refused", read: "refused", stored: 0 });
  } finally {
    await page.context().close();
    server.close();
  }
  // That page caused these errors on purpose.
  desktop.problems.length = 0;
});

test("no page had unexpected errors", () => {
  expect(desktop.problems).toEqual([]);
});

async function logIn(page: Page, { username, password }: { username: string; password: string }): Promise<void> {
  await page.getByLabel("Name").fill(username);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

async function runFromPalette(page: Page, words: string): Promise<void> {
  await openPalette(page);
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
}

async function labelsOf(client: Client): Promise<(string | null)[]> {
  const { tokens } = await client.call("sys.token.list", {});
  return tokens.filter(({ revokedAt }) => revokedAt === null).map(({ label }) => label);
}

function focused(page: Page): Promise<string | null | undefined> {
  return page.evaluate(() => document.activeElement?.textContent);
}

/** Waits until every pane has its screen. */
async function waitForScreens(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await expect.poll(() => page.locator(".skeleton").count()).toBeLessThanOrEqual(page.url().includes("/pieces") ? 1 : 0);
  await expect.poll(() => page.locator(".pane-body:empty").count()).toBe(0);
}
