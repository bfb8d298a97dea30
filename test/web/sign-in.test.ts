// Signing in on a phone: the dialog with the QR code, and the page that its link opens, in two browsers.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Desktop, desktopOf, openPalette, PHONE, violationsInBothThemes } from "../support/desktop.ts";
import { startNodeHost } from "../support/node-host.ts";
import { messageField, messageList } from "../support/chat-page.ts";
import { ALICE, BOB, populate } from "../support/people.ts";
import { steadyPort } from "../support/steady-port.ts";
import { tooWide } from "../support/widths.ts";

let desktop: Desktop;
let origin: string;
let alice: Page;
const home = mkdtempSync(join(tmpdir(), "gsv-sign-in-"));

beforeAll(async () => {
  const port = String(await steadyPort());
  origin = `http://gsv.test:${port}`;
  const host = await startNodeHost({ home, port, origin: [origin] });
  await populate(host);
  desktop = await desktopOf(host, { origin });
  alice = await desktop.openWithOwnToken(ALICE);
});

afterAll(async () => {
  await desktop?.close();
  rmSync(home, { recursive: true, force: true });
});

test("a phone signs in by the QR code, after it was asked; the first browser says so at once, and can undo it", async () => {
  const { link, code } = await showCode();
  const qrCode = alice.getByRole("img", { name: "QR code that signs a phone in as alice" });
  await qrCode.locator("path").waitFor({ state: "attached" });
  await alice.emulateMedia({ colorScheme: "dark" });
  const colours = await qrCode.evaluate((svg) => [getComputedStyle(svg).backgroundColor, getComputedStyle(svg).fill]);
  expect(colours, "cameras read dark on light").toEqual(["rgb(255, 255, 255)", "rgb(0, 0, 0)"]);
  await alice.emulateMedia({ colorScheme: "light" });
  await alice
    .getByRole("timer")
    .getByText(/^Expires in [12]:\d\d$/)
    .waitFor();
  expect(await violationsInBothThemes(alice)).toEqual([]);

  const phone = await desktop.open("/nowhere", PHONE);
  const sent: string[] = [];
  phone.on("request", (request) => sent.push(request.url(), JSON.stringify(request.headers())));
  await phone.goto(link);
  await phone.getByRole("heading", { name: "Sign in as alice?" }).waitFor();
  await phone.getByText(`to GSV at ${new URL(origin).host}`).waitFor();
  expect(phone.url(), "the code is not in the address").toBe(`${origin}/`);
  expect(await violationsInBothThemes(phone)).toEqual([]);
  expect(await tooWide(phone)).toEqual([]);
  await phone.getByRole("button", { name: "Sign in as alice" }).click();
  await phone.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  expect(sent.filter((text) => text.includes(code))).toEqual([]);
  await phone.reload();
  await phone.getByRole("heading", { level: 1, name: "Home" }).waitFor();

  const dialog = alice.getByRole("dialog", { name: "Sign in on a phone" });
  await dialog.getByText(/^Signed in on \w+ on \w+/).waitFor();
  expect(await violationsInBothThemes(alice)).toEqual([]);
  await dialog.getByRole("button", { name: "Undo" }).click();
  await dialog.getByText("is signed out again").waitFor();
  await phone.getByRole("heading", { name: "Sign in", exact: true }).waitFor();

  await phone.goto("about:blank");
  await phone.goto(link);
  await phone.getByRole("button", { name: "Sign in as alice" }).click();
  await phone.getByText("This code was used already, or has expired").waitFor();
  await phone.getByRole("button", { name: "Sign in with a password" }).click();
  await phone.getByLabel("Password", { exact: true }).waitFor();
  await phone.context().close();
});

test("a link never changes who is signed in without asking", async () => {
  const bob = await desktop.openWithOwnToken(BOB);
  await bob.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  const { link } = await showCode();
  // In the page that is open: the browser changes only the fragment.
  await bob.evaluate((to) => location.assign(to), link);
  await bob.getByText("You are signed in as bob. This link signs in as alice").waitFor();
  expect(bob.url()).toBe(`${origin}/`);
  expect(await violationsInBothThemes(bob)).toEqual([]);
  await bob.getByRole("button", { name: "Stay signed in as bob" }).click();
  await bob.getByTitle(/ in as bob$/).waitFor();

  await bob.goto("about:blank");
  await bob.goto(link);
  const before = await bob.evaluate(() => localStorage.getItem("gsv.pass"));
  await bob.getByRole("button", { name: "Sign in as alice" }).click();
  await bob.getByTitle(/ in as alice$/).waitFor();
  // Bob's sign-in has ended, and is not only forgotten here.
  await bob.evaluate((pass) => localStorage.setItem("gsv.pass", pass!), before);
  await bob.reload();
  await bob.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  await bob.context().close();

  await alice.goto("about:blank");
  await alice.goto(`${origin}/#sign-in=alice.x`);
  await alice.getByRole("heading", { name: "You are already signed in as alice" }).waitFor();
  await alice.getByRole("button", { name: "Open GSV" }).click();
  await alice.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  await alice.goto("about:blank");
  await alice.goto(`${origin}/#sign-in=%E0%A4%A`);
  await alice.getByRole("heading", { name: "This sign-in link is not complete" }).waitFor();
  await alice.goto(`${origin}/`);
});

test("closing the dialog ends the code", async () => {
  const { link } = await showCode();
  const phone = await desktop.open("/nowhere", PHONE);
  await phone.goto(link);
  await phone.getByRole("heading", { name: "Sign in as alice?" }).waitFor();
  await alice.keyboard.press("Escape");
  await alice.getByRole("dialog").waitFor({ state: "detached" });
  // Ordered after the end of the code.
  await showCode();
  await phone.getByRole("button", { name: "Sign in as alice" }).click();
  await phone.getByText("This code was used already, or has expired").waitFor();
  await phone.context().close();
});

test("an address of this computer only is no use to a phone, and the dialog says so", async () => {
  const port = new URL(origin).port;
  const context = await alice
    .context()
    .browser()!
    .newContext({ storageState: await alice.context().storageState() });
  const page = await context.newPage();
  const pass = await alice.evaluate(() => localStorage.getItem("gsv.pass"));
  await page.goto(`http://127.0.0.1:${port}/nowhere`);
  await page.evaluate((value) => localStorage.setItem("gsv.pass", value!), pass);
  await page.goto(`http://127.0.0.1:${port}/settings/account`);
  await page.getByRole("button", { name: "Sign in on a phone…" }).click();
  await page.getByText("This address works only on this computer.").waitFor();
  await page
    .getByRole("dialog")
    .getByRole("group", { name: `the address ${origin}` })
    .waitFor();
  expect(await page.getByRole("img", { name: /^QR code/ }).count()).toBe(0);
  await context.close();
  expect(desktop.problems).toEqual([]);
});

test("by plain http, where browsers offer less, messages are sent and copied", async () => {
  await alice.goto(`${origin}/`);
  expect(await alice.evaluate(() => isSecureContext)).toBe(false);
  await alice.getByRole("textbox", { name: "New task" }).fill("help");
  await alice.keyboard.press("Enter");
  await messageList(alice).getByText("I only know a few plain requests").waitFor();
  await messageField(alice).fill("what can you do?");
  await messageField(alice).press("Enter");
  await messageList(alice).getByRole("article", { name: /^You/ }).getByText("what can you do?").waitFor();
  const answers = messageList(alice)
    .getByRole("article", { name: /^Agent, \d/ })
    .filter({ hasText: "I only know a few plain requests" });
  await answers.nth(1).waitFor();
  await messageList(alice).getByText("The agent is working").waitFor({ state: "detached" });
  // Of the newest message, which shows its buttons without a pointer over it.
  await answers.nth(1).getByRole("button", { name: "Copy the message" }).click();
  await answers.nth(1).getByRole("button", { name: "Copied" }).waitFor();
  await messageField(alice).focus();
  await alice.keyboard.press("Control+v");
  expect(await messageField(alice).inputValue()).toContain("I only know a few plain requests");
  await messageField(alice).fill("");
});

/** Opens the dialog on alice's page; returns what its QR code contains. */
async function showCode(): Promise<{ link: string; code: string }> {
  if (await alice.getByRole("dialog").isVisible()) {
    await alice.keyboard.press("Escape");
    await alice.getByRole("dialog").waitFor({ state: "detached" });
  }
  await openPalette(alice);
  await alice.getByRole("combobox").fill("sign in on a phone");
  await alice.keyboard.press("Enter");
  const link = await alice.getByRole("group", { name: "the link" }).textContent();
  const [before, code = ""] = link!.split("#sign-in=alice.");
  expect([before, code]).toEqual([`${origin}/`, expect.stringMatching(/^[\w-]{22}$/)]);
  return { link: link!, code };
}
