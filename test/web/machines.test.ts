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
  await page.getByRole("heading", { name: "No other machines yet" }).waitFor();
  await page.getByRole("button", { name: "Add a machine" }).click();
  await expect.poll(() => new URL(page.url()).pathname).toBe("/machines/add");
  await page.getByLabel("Name", { exact: true }).fill("my laptop");
  await page.keyboard.press("Enter");
  await page.getByText("use letters, digits, dots and dashes only").waitFor();
  await page.getByText("This address works only on this computer.").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("laptop");
  await page.keyboard.press("Enter");
  await page.getByRole("tab", { name: "Windows" }).click();
  await page.getByRole("group", { name: "the command for PowerShell" }).getByText("Remove-Item Env:GSV_DEVICE_TOKEN").waitFor();
  await page.getByRole("tab", { name: "Linux" }).click();
  const line = await page.getByRole("group", { name: "the command for a terminal" }).textContent();
  expect(line).toMatch(
    /^ curl -fsSL http:\/\/127\.0\.0\.1:\d+\/downloads\/cli\/install\.sh \| GSV_DEVICE_TOKEN=\S+ sh -s -- --device laptop --user alice$/,
  );
  await page.getByText(/Valid until \d/).waitFor();
  await page.getByText("Waiting for laptop").waitFor();
  await page.getByRole("button", { name: "Show QR code" }).click();
  // One rectangle for each run of dark modules: a command of this length needs a code of hundreds of them.
  const drawn = page.getByRole("img", { name: "QR code with the install command" }).locator("path");
  expect((await drawn.getAttribute("d"))!.split("M").length).toBeGreaterThan(500);
  expect(await violations(page)).toEqual([]);

  const [workspace, state] = [makeScratchFolder(), makeScratchFolder()];
  const token = /GSV_DEVICE_TOKEN=(\S+)/.exec(line!)![1]!;
  const auth = { username: ALICE.username, token };
  const device = await startDevice({ url: desktop.host.url, auth, deviceId: "laptop", workspace, state, waitMs: 400 });
  await page.getByText("laptop is connected.").waitFor();
  await page.getByRole("meter", { name: "Memory" }).waitFor();
  await page.getByRole("link", { name: "Open laptop" }).click();
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
  const line = page.getByRole("group", { name: "the command for a terminal" });
  const first = await line.textContent();
  const listTokens = async () => (await alice.call("sys.token.list", {})).tokens.filter((one) => one.allowedDeviceId === "cellar");
  const [made] = await listTokens();
  expect([made!.expiresAt, made!.endsUnusedAt]).toEqual([null, made!.createdAt + 3_600_000]);
  await page.clock.fastForward("01:00:01");
  await page.getByRole("heading", { name: "The command for cellar has expired" }).waitFor();
  expect(await page.content()).not.toContain(/GSV_DEVICE_TOKEN=(\S+)/.exec(first!)![1]!);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Generate a new command" }).click();
  await line.waitFor();
  expect(await line.textContent()).not.toBe(first);
  expect((await listTokens()).filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1);
  await page.context().close();
});

test("two tabs show the same status, description, sharing and removal, and another user sees nothing until it is shared", async () => {
  const device = await plugIn(desktop.host, alice, "workshop");
  const page = await desktop.goAs(ALICE, "/machines");
  const tab = await page.context().newPage();
  await tab.goto(`${desktop.host.url}/machines`);
  const other = await desktop.openAs(BOB, "/machines");
  await other.getByRole("heading", { name: "No other machines yet" }).waitFor();
  await page.getByRole("link", { name: /workshop/ }).click();
  await page.getByRole("heading", { level: 1, name: "workshop" }).waitFor();

  await page.getByRole("button", { name: "Add a description" }).click();
  await page.getByRole("textbox", { name: "Description" }).fill("saws, and the <b>photos</b>");
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
  await tab.getByText("Shared with family").waitFor();
  await page.getByRole("button", { name: "Stop sharing with Group family" }).click();
  await page.getByText("Only its owner and the administrator can use it.").waitFor();
  await other.reload();
  await other.getByRole("heading", { name: "There is no such machine" }).waitFor();

  await page.getByRole("button", { name: "Forget…" }).click();
  await page.getByText("disconnected at once").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Forget…" }).click();
  await page.getByRole("button", { name: "Forget", exact: true }).click();
  for (const each of [page, tab]) await each.getByRole("heading", { name: "No other machines yet" }).waitFor();
  const { tokens } = await alice.call("sys.token.list", {});
  expect(tokens.filter(({ allowedDeviceId }) => allowedDeviceId === "workshop").map(({ revokedAt }) => revokedAt)).not.toContain(null);
  device.close();
  await tab.close();
  await other.context().close();
});

test("a machine shows its load and what runs on it, and a command is killed there", async () => {
  const device = await plugIn(desktop.host, alice, "bench");
  const target = device.deviceId;
  const page = await desktop.goAs(ALICE, "/machines");
  const row = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: target }) });
  for (const name of ["Memory", "Disk"]) await row.getByRole("meter", { name }).waitFor();
  await page.getByRole("listitem").filter({ hasText: "This GSV" }).getByRole("meter", { name: "Disk" }).waitFor();

  const started = await alice.call("shell.exec", { target, input: "sleep 5000", until: "sent" });
  await row.getByText("1 command runs: sleep 5000").waitFor();
  await page.getByRole("link", { name: target }).click();
  await page.getByText(process.arch).waitFor();
  await page.getByRole("button", { name: "Kill sleep 5000" }).click();
  await page.getByText("No commands are running.").waitFor();
  expect(started).toMatchObject({ status: "running" });
  const { sessions } = await alice.call("shell.list", { target });
  expect(sessions.filter(({ state }) => state === "running")).toEqual([]);

  device.close();
  await page.getByText("bench went offline").waitFor();
  await page.getByText("Running commands").waitFor({ state: "detached" });
  await alice.call("sys.device.remove", { deviceId: target });
});

test("a question about a machine begins in a new conversation with the machine's name", async () => {
  const device = await plugIn(desktop.host, alice, "studio");
  const page = await desktop.goAs(ALICE, `/machines/device/${device.deviceId}`);
  await page.getByRole("button", { name: "Ask about this machine" }).click();
  await expect.poll(() => page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("On studio: ");
  device.close();
  await alice.call("sys.device.remove", { deviceId: device.deviceId });
});

test("for another computer the wizard says how to open the gateway, to those who can, and checks the address", async () => {
  const page = await desktop.openAs(ROOT, "/machines/add");
  const { port } = new URL(desktop.host.url);
  await page.getByText("Over the same local network").click();
  await page.getByText(`npm start -- --host 0.0.0.0 --allow-remote --port ${port}`).waitFor();
  await page.getByLabel("Name", { exact: true }).fill("attic");
  await page.getByRole("button", { name: "Generate install command" }).click();
  await page.getByText("Enter the address at which the machine reaches GSV first.").waitFor();
  await page.getByText("By a public name").click();
  const address = page.getByLabel("Address", { exact: true });
  await address.fill(`http://127.0.0.1:${port}`);
  await page.getByText("open GSV at an address it can reach").waitFor();
  // Nothing listens there, on any machine.
  await address.fill("http://0.0.0.0:9");
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByText("The gateway could not connect to http://0.0.0.0:9.").waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  await page.context().close();

  const other = await desktop.goAs(ALICE, "/machines/add");
  await other.getByText("Over Tailscale").click();
  await other.getByText("Ask whoever runs GSV to do this, or do it yourself on that computer:").waitFor();
  await other.getByText(`tailscale serve --bg ${port}`).waitFor();

  await other.goto(`${desktop.host.url}/settings/account`);
  await other.getByRole("button", { name: "Sign in on a phone…" }).click();
  const dialog = other.getByRole("dialog");
  await dialog.getByText("Ask whoever runs GSV to do this, or do it yourself on that computer:").waitFor();
  await dialog.getByText(`npm start -- --host 0.0.0.0 --allow-remote --port ${port}`).waitFor();
  await dialog.getByLabel("How will the phone reach GSV?").selectOption("Over Tailscale, from anywhere");
  await dialog.getByText(`tailscale serve --bg ${port}`).waitFor();
  expect(await violationsInBothThemes(other)).toEqual([]);
});

test("axe finds no violations in either theme, a phone scrolls only vertically, and the keyboard is enough", async () => {
  const device = await plugIn(desktop.host, alice, "shed");
  await alice.call("sys.device.update", { deviceId: device.deviceId, description: "word ".repeat(99) });
  for (const look of [WIDE, PHONE]) {
    const page = await desktop.openAs(ALICE, "/machines", look);
    await page.getByRole("link", { name: new RegExp(device.deviceId) }).waitFor();
    await page.getByRole("meter", { name: "Disk" }).nth(1).waitFor();
    await expectClean(page);
    await page.goto(`${desktop.host.url}/machines/add`);
    await page.getByLabel("Name", { exact: true }).waitFor();
    await expectClean(page);
    await page.goto(`${desktop.host.url}/machines/gateway`);
    await page.getByRole("meter", { name: "Disk" }).waitFor();
    await page.getByText("Only this computer reaches it.").waitFor();
    await expectClean(page);
    await page.goto(`${desktop.host.url}/machines/device/${device.deviceId}`);
    await page.getByRole("button", { name: "Revoke Unnamed" }).waitFor();
    await expectClean(page);
    await page.getByRole("button", { name: "Edit" }).focus();
    await page.keyboard.press("Enter");
    await expect
      .poll(() => page.getByRole("textbox", { name: "Description" }).evaluate((field) => field === document.activeElement))
      .toBe(true);
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
