// Machines in the web desktop, with real devices: status, descriptions, sharing, and adding a machine.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { startDevice } from "../../src/device/device.ts";
import { type Desktop, PHONE, startDesktop, violations, violationsInBothThemes, WIDE } from "../support/desktop.ts";
import { plugIn } from "../support/devices.ts";
import { ALICE, BOB, enter, ROOT } from "../support/people.ts";

let desktop: Desktop;
let alice: Client;
let root: Client;

beforeAll(async () => {
  desktop = await startDesktop();
  [alice, root] = [await enter(desktop.host, ALICE), await enter(desktop.host, ROOT)];
});

afterAll(async () => {
  alice?.close();
  root?.close();
  await desktop?.close();
});

test("a first machine is added with the command that the page shows, and appears when it connects", async () => {
  const page = await desktop.goAs(ALICE, "/machines");
  await page.getByRole("heading", { name: "No machines yet" }).waitFor();
  await page.getByRole("button", { name: "Add a machine" }).click();
  await expect.poll(() => new URL(page.url()).pathname).toBe("/machines/add");
  await page.getByLabel("Name", { exact: true }).fill("my laptop");
  await page.keyboard.press("Enter");
  await page.getByText("use letters, digits, dots and dashes only").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("laptop");
  await page.keyboard.press("Enter");
  const line = await page.getByRole("group", { name: "the line for a terminal" }).textContent();
  expect(line).toMatch(
    /^ curl -fsSL http:\/\/127\.0\.0\.1:\d+\/downloads\/cli\/install\.sh \| GSV_DEVICE_TOKEN=\S+ sh -s -- --device laptop --user alice$/,
  );
  await page.getByText("Only this machine can reach").waitFor();
  await page.getByText("works for an hour").waitFor();
  await page.getByText("Waiting for laptop to connect").waitFor();
  expect(await violations(page)).toEqual([]);

  const [workspace, state] = [makeScratchFolder(), makeScratchFolder()];
  const token = /GSV_DEVICE_TOKEN=(\S+)/.exec(line!)![1]!;
  const auth = { username: ALICE.username, token };
  const device = await startDevice({ url: desktop.host.url, auth, deviceId: "laptop", workspace, state, waitMs: 400 });
  await page.getByText("laptop is connected.").waitFor();
  await page.getByRole("link", { name: "Look at it" }).click();
  await page.getByText("Online", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Windows" }).waitFor({ state: "detached" });
  expect(await page.content()).not.toContain(token);
  device.close();
  await page.getByText("Offline", { exact: true }).waitFor();
  for (const folder of [workspace, state]) rmSync(folder, { recursive: true, force: true });
  await alice.call("sys.device.remove", { deviceId: "laptop" });
});

test("an unused command expires, leaves no valid token, and can be replaced", async () => {
  const page = await desktop.openAs(ALICE, "/machines/add");
  await page.clock.install();
  await page.getByLabel("Name", { exact: true }).fill("cellar");
  await page.keyboard.press("Enter");
  const line = page.getByRole("group", { name: "the line for a terminal" });
  const first = await line.textContent();
  const made = (await alice.call("sys.token.list", {})).tokens.find(({ allowedDeviceId }) => allowedDeviceId === "cellar")!;
  expect([made.expiresAt, made.endsUnusedAt]).toEqual([null, made.createdAt + 3_600_000]);
  await page.clock.fastForward("01:00:01");
  await page.getByRole("heading", { name: "The line for cellar has run out" }).waitFor();
  expect(await page.content()).not.toContain(/GSV_DEVICE_TOKEN=(\S+)/.exec(first!)![1]!);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Make a new line" }).click();
  await line.waitFor();
  expect(await line.textContent()).not.toBe(first);
  await page.context().close();
});

test("two tabs show the same status, description, sharing and removal, and another user sees nothing until it is shared", async () => {
  const device = await plugIn(desktop.host, alice, "workshop");
  const page = await desktop.goAs(ALICE, "/machines");
  const tab = await page.context().newPage();
  await tab.goto(`${desktop.host.url}/machines`);
  const other = await desktop.openAs(BOB, "/machines");
  await other.getByRole("heading", { name: "No machines yet" }).waitFor();
  await page.getByRole("link", { name: /workshop/ }).click();
  await page.getByRole("heading", { level: 1, name: "workshop" }).waitFor();

  await page.getByRole("button", { name: "Describe it" }).click();
  await page.getByLabel("Description").fill("saws, and the <b>photos</b>");
  await page.getByRole("button", { name: "Save" }).click();
  for (const each of [page, tab]) await each.getByText("saws, and the <b>photos</b>").waitFor();

  const { group } = await root.call("sys.group.create", { name: "family" });
  await root.call("sys.group.members", { gid: group.gid, members: ["alice", "bob"] });
  await page.reload();
  await page.getByLabel("Share with a group").selectOption("family");
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByText("Group family").waitFor();
  await other.reload();
  await other.getByRole("link", { name: /workshop/ }).click();
  await other.getByText("saws, and the <b>photos</b>").waitFor();
  expect(await other.getByRole("button", { name: /Edit|Forget|Share|Revoke/ }).count()).toBe(0);
  await page.getByRole("button", { name: "Take away from Group family" }).click();
  await page.getByText("Only its owner and root.").waitFor();
  await other.reload();
  await other.getByRole("heading", { name: "There is no such machine" }).waitFor();

  await page.getByRole("button", { name: "Forget…" }).click();
  await page.getByText("disconnected at once").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Forget…" }).click();
  await page.getByRole("button", { name: "Forget it" }).click();
  for (const each of [page, tab]) await each.getByRole("heading", { name: "No machines yet" }).waitFor();
  const { tokens } = await alice.call("sys.token.list", {});
  expect(tokens.filter(({ allowedDeviceId }) => allowedDeviceId === "workshop").map(({ revokedAt }) => revokedAt)).not.toContain(null);
  device.close();
  await tab.close();
  await other.context().close();
});

test("axe finds no violations in either theme, a phone scrolls only vertically, and the keyboard is enough", async () => {
  const device = await plugIn(desktop.host, alice, "shed");
  await alice.call("sys.device.update", { deviceId: device.deviceId, description: "word ".repeat(99) });
  for (const look of [WIDE, PHONE]) {
    const page = await desktop.openAs(ALICE, "/machines", look);
    await page.getByRole("link", { name: new RegExp(device.deviceId) }).waitFor();
    await expectClean(page);
    await page.goto(`${desktop.host.url}/machines/add`);
    await page.getByLabel("Name", { exact: true }).waitFor();
    await expectClean(page);
    await page.goto(`${desktop.host.url}/machines/device/${device.deviceId}`);
    await page.getByRole("button", { name: "Revoke Without a name" }).waitFor();
    await expectClean(page);
    await page.getByRole("button", { name: "Edit" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByLabel("Description").evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.press("Control+a");
    await page.keyboard.type("tools");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("tools", { exact: true }).waitFor();
    await alice.call("sys.device.update", { deviceId: device.deviceId, description: "word ".repeat(99) });
    await page.context().close();
  }
  device.close();
  await alice.call("sys.device.remove", { deviceId: device.deviceId });
});

test("no page had unexpected errors", () => {
  expect(desktop.problems).toEqual([]);
});

async function expectClean(page: Page): Promise<void> {
  expect(await violationsInBothThemes(page), page.url()).toEqual([]);
  expect(await page.locator(".pane-body").evaluate((body) => body.scrollWidth - body.clientWidth), page.url()).toBe(0);
}

function makeScratchFolder(): string {
  return mkdtempSync(join(tmpdir(), "gsv-device-"));
}
