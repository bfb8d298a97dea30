// A gateway that stops and restarts under an open page.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { leaveBrowser, takeBrowser } from "../support/browser.ts";
import { desktopOf, startDesktop } from "../support/desktop.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, populate } from "../support/people.ts";
import { steadyPort } from "../support/steady-port.ts";

// Both gateways share one browser.
beforeAll(async () => {
  await takeBrowser();
});

afterAll(() => leaveBrowser());

test("a page that loses its gateway says so, keeps its content, and reconnects by itself", async () => {
  const home = mkdtempSync(join(tmpdir(), "gsv-away-"));
  const flags = { home, port: String(await steadyPort()) };
  let host = await startNodeHost(flags);
  await populate(host);
  const desktop = await desktopOf({ ...host, close: () => host.close() });
  try {
    const page = await desktop.openAs(ALICE, "/chat?beside=/machines");
    await page.getByRole("heading", { level: 1, name: "Machines" }).waitFor();
    const leaving = await desktop.openAs(ALICE);
    await leaving.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await host.close();
    await page.getByText("Connection lost").waitFor();
    await page.getByRole("heading", { level: 1, name: "Chat" }).waitFor();
    // A logout now takes effect in this browser only, and the page says what could not be done.
    await leaving.getByRole("button", { name: "Sign out" }).click();
    await leaving.getByText("this session is still valid").waitFor();
    expect(await leaving.evaluate(() => localStorage.length)).toBe(0);

    // A process that another test is starting may briefly hold a copy of the old listening socket.
    host = await vi.waitFor(() => startNodeHost(flags), { timeout: 30_000 });
    // The browser's online event makes the page reconnect at once.
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await page.getByText("Connection lost").waitFor({ state: "detached" });
    expect(page.url()).toBe(`${host.url}/chat?beside=/machines`);
    await page.getByRole("heading", { level: 1, name: "Machines" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  } finally {
    await desktop.close();
    rmSync(home, { recursive: true, force: true });
  }
});

test("a page recognizes a fresh gateway, and waits while it is set up", async () => {
  const desktop = await startDesktop({ isSetUp: false });
  try {
    const page = await desktop.open();
    await page.getByRole("heading", { level: 1, name: /Welcome/ }).waitFor();
    await populate(desktop.host);
    await page.reload();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(desktop.problems).toEqual([]);
  } finally {
    await desktop.close();
  }
});
