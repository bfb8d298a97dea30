// Settings in the web desktop, page by page, as root and as a user.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { type Desktop, goByKeys, PHONE, startDesktop, violations, violationsInBothThemes, WIDE } from "../support/desktop.ts";
import { startMcpServer } from "../support/mcp/server.ts";
import { ScriptedModel, says } from "../support/models/scripted.ts";
import { ALICE, BOB, enter, ROOT } from "../support/people.ts";

const CAROL = { username: "carol", password: "a long enough one" };
const OWN = ["ai", "policy", "budgets", "tokens", "account", "look", "about"];

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

test("AI: root tests a model before it is saved, and its key is never shown again and sent nowhere else", async () => {
  const model = await ScriptedModel.start();
  const { provider, base_url, api_key } = model.settings("chat");
  const page = await desktop.openAs(ROOT, "/settings/ai");
  const tab = await page.context().newPage();
  await tab.goto(`${desktop.host.url}/settings/ai`);
  await page.getByLabel("Provider", { exact: true }).selectOption(provider);
  await page.getByLabel("Address", { exact: true }).fill(base_url);
  await page.getByLabel("Model", { exact: true }).fill(model.name);
  await page.getByLabel("Key", { exact: true }).fill(api_key);
  model.on("Answer with the single word: ready", says("ready"));
  await page.getByRole("button", { name: "Check whether it answers" }).click();
  await page.getByText(new RegExp(`answers with ${model.name}`)).waitFor();
  expect(await value("config/ai/provider")).toBe("demo");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. New runs use it").waitFor();
  expect(await value("config/ai/api_key")).toBe(api_key);
  await expect.poll(() => tab.getByLabel("Model", { exact: true }).inputValue()).toBe(model.name);
  await page.reload();
  await page.getByText("One is stored and is never shown").waitFor();
  expect(await page.getByLabel("Key", { exact: true }).inputValue()).toBe("");
  expect(await page.content()).not.toContain(api_key);

  const other = await desktop.goAs(ALICE, "/settings/ai");
  await other.getByRole("option", { name: `As usual (${provider})` }).waitFor({ state: "attached" });
  expect(await other.getByText("For whom").count()).toBe(0);
  expect(await other.content()).not.toContain(api_key);

  await page.getByLabel("Address", { exact: true }).fill("http://127.0.0.1:9/v1");
  await page.getByText("was for another place and will be removed").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => value("config/ai/base_url")).toBe("http://127.0.0.1:9/v1");
  expect(await value("config/ai/api_key")).toBe("");
  for (const [name, to] of [
    ["provider", "demo"],
    ["model", "demo"],
    ["base_url", ""],
  ] as const)
    await root.call("sys.config.set", { key: `config/ai/${name}`, value: to });
  await page.context().close();
  await model.close();
});

test("policy: a user's own is checked while typing, shows what it changes, and takes effect when saved", async () => {
  const page = await desktop.goAs(ALICE, "/settings/policy");
  await page.getByRole("button", { name: "Write one, from the standard" }).click();
  const text = page.getByLabel("Policy, in JSON");
  await page.getByText("The gateway can read it.").waitFor();
  await page.getByText("None of them would be decided otherwise.").waitFor();
  await text.fill('{ "default": "deny", "rules": [');
  await page.getByText("it is not valid JSON").waitFor();
  expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await text.fill('{ "default": "deny", "rules": [{ "match": "fs.raed", "action": "auto" }] }');
  await page.getByText("there is no call fs.raed").waitFor();
  await text.fill('{ "default": "deny", "rules": [{ "match": "fs.read", "action": "auto" }] }');
  const changes = page.getByRole("region", { name: "What it would change" });
  await changes.getByText("Delete a file").waitFor();
  expect(await changes.getByText("Read a file at home").count()).toBe(0);
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByText("It never runs").waitFor();
  expect((await alice.call("proc.approval.preview", { call: "fs.delete", args: { path: "~/x" } })).action).toBe("ask");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Counts now").waitFor();
  expect((await alice.call("proc.approval.preview", { call: "fs.delete", args: { path: "~/x" } })).action).toBe("deny");
  await page.getByRole("button", { name: "Go back to the standard" }).click();
  await page.getByRole("heading", { name: "The standard policy counts" }).waitFor();
  expect((await alice.call("proc.approval.preview", { call: "fs.delete", args: { path: "~/x" } })).action).toBe("ask");
});

test("budgets: usage is an accessible chart, and limits are stored as entered", async () => {
  const { uid } = alice.session.identity.process;
  await alice.call("proc.send", { message: "help" });
  await expect.poll(async () => (await alice.call("proc.spending", {})).days[0]?.spent.modelCalls ?? 0).toBeGreaterThan(0);
  const page = await desktop.goAs(ALICE, "/settings/budgets");
  await page
    .getByRole("listitem")
    .filter({ hasText: /^\d{4}-\d\d-\d\d: [1-9][\d,]* tokens?, \d+ answers?, / })
    .first()
    .waitFor({ state: "attached" });
  const run = page.getByRole("group", { name: /^One run/ });
  await run.getByLabel("Minutes").fill("soon");
  await run.getByText("Whole minutes. Or nothing, or unlimited.").waitFor();
  expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await run.getByLabel("Minutes").fill("30");
  await page
    .getByRole("group", { name: /^One day/ })
    .getByLabel("Cost, in dollars")
    .fill("2.50");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. New runs keep to it").waitFor();
  expect(await value(`users/${uid}/ai/budget/run/wall_ms`)).toBe("1800000");
  expect(await value(`users/${uid}/ai/budget/user/cost`)).toBe("2.50");
  await page.reload();
  await expect.poll(() => run.getByLabel("Minutes").inputValue()).toBe("30");
});

test("tokens: a new one is shown once, works, appears in every tab, and stops working everywhere when it is revoked", async () => {
  const page = await desktop.goAs(ALICE, "/settings/tokens");
  const tab = await page.context().newPage();
  await tab.goto(`${desktop.host.url}/settings/tokens`);
  const other = await desktop.goAs(BOB, "/settings/tokens");
  await other.getByText("a test's browser").waitFor();
  await page.getByRole("button", { name: "New token" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByLabel("A service").count()).toBe(0);
  await dialog.getByLabel("Name").fill("backup script");
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Make it" }).click();
  const token = (await dialog.getByRole("group", { name: "the token" }).textContent())!;
  const entered = await enter(desktop.host, { username: ALICE.username, token });
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  await tab.getByText("backup script").waitFor();
  for (const each of [page, tab]) expect(await each.content()).not.toContain(token);
  await page.getByRole("button", { name: "Revoke backup script" }).click();
  await page.getByRole("button", { name: "Revoke it" }).click();
  for (const each of [page, tab]) await each.getByRole("button", { name: "Revoke backup script" }).waitFor({ state: "detached" });
  await expect(entered.call("sys.info", {})).rejects.toThrow();
  expect(await other.getByText("backup script").count()).toBe(0);
  await tab.close();
});

test("network: root lists a host of the own network, which is reached from then on, and removes it; others have no such page", async () => {
  const server = await startMcpServer({});
  const { host } = new URL(server.url);
  const name = "local server";
  await expect(root.call("sys.mcp.add", { name, url: server.url })).rejects.toThrow(/Settings, Network/);
  const page = await desktop.goAs(ROOT, "/settings/network");
  await page.getByText("Only public addresses are reached.").waitFor();
  await page.getByRole("textbox", { name: "Host" }).fill("not a host");
  await page.keyboard.press("Enter");
  await page.getByText(/^Enter a host, such as/).waitFor();
  for (const text of ["nas.local", server.url]) {
    await page.getByRole("textbox", { name: "Host" }).fill(text);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("textbox", { name: "Host" }).inputValue()).toBe("");
  }
  await page.getByRole("button", { name: `Remove ${host}` }).waitFor();
  const { server: added } = await root.call("sys.mcp.add", { name, url: server.url });
  expect(added.state).toBe("ready");
  await root.call("sys.mcp.remove", { serverId: added.serverId });
  await page.getByRole("button", { name: `Remove ${host}` }).click();
  await page.getByRole("button", { name: `Remove ${host}` }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Remove nas.local" }).waitFor();
  await expect(root.call("sys.mcp.add", { name, url: server.url })).rejects.toThrow(/Settings, Network/);
  await page.getByRole("button", { name: "Remove nas.local" }).click();
  await page.getByText("Only public addresses are reached.").waitFor();
  await server.close();

  const other = await desktop.goAs(ALICE, "/settings/network");
  await other.getByRole("heading", { name: "There is no such page of settings" }).waitFor();
});

test("users: root adds, locks and unlocks one, and fills a group; others have no such page", async () => {
  const page = await desktop.goAs(ROOT, "/settings/users");
  await page.getByRole("button", { name: "Add a user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("User name").fill("alice");
  await dialog.getByLabel("Password").fill(CAROL.password);
  await dialog.getByRole("button", { name: "Add" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("User name").fill(CAROL.username);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Lock carol" }).waitFor();
  const carol = await enter(desktop.host, CAROL);
  await page.getByRole("button", { name: "Lock carol" }).click();
  await page.getByRole("button", { name: "Lock", exact: true }).last().click();
  await page.getByText("Locked", { exact: true }).waitFor();
  await expect(carol.call("sys.info", {})).rejects.toThrow();
  await expect(enter(desktop.host, CAROL)).rejects.toThrow();
  await page.getByRole("button", { name: "Unlock carol" }).click();
  await page.getByText("Locked", { exact: true }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Set password of carol" }).click();
  await dialog.getByLabel("New password").fill("another long one");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  (await enter(desktop.host, { username: "carol", password: "another long one" })).close();
  await page.getByLabel("New group").fill("family");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Members of family" }).click();
  await dialog.getByLabel("carol").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText(/User \d+, in users, family/).waitFor();

  const other = await desktop.goAs(ALICE, "/settings/users");
  await other.getByRole("heading", { name: "There is no such page of settings" }).waitFor();
  await other.goto(`${desktop.host.url}/settings`);
  await other.getByRole("link", { name: /^Tokens/ }).waitFor();
  expect(await other.getByRole("link", { name: /^Users/ }).count()).toBe(0);
});

test("account and look: changing a password needs the current one, and the look is kept", async () => {
  const page = await desktop.openAs(BOB, "/settings/account");
  await page.getByLabel("Password now").fill("not this");
  await page.getByLabel("New password").fill("a better one");
  await page.getByRole("button", { name: "Change it" }).click();
  await page.getByText("That is not your password now.").waitFor();
  await page.getByLabel("Password now").fill(BOB.password);
  await page.keyboard.press("Enter");
  await page.getByText("Your password is changed").waitFor();
  (await enter(desktop.host, { ...BOB, password: "a better one" })).close();
  await page.goto(`${desktop.host.url}/settings/look`);
  await page.getByLabel("Dark").check();
  await page.getByLabel("Tight").check();
  await page.reload();
  await expect
    .poll(() => page.evaluate(() => Object.assign({}, document.documentElement.dataset)))
    .toEqual({ theme: "dark", density: "tight" });
  await page.context().close();
});

test("doctor: users see their own checks, root sees the host's, and the keyboard reaches it", async () => {
  const page = await desktop.goAs(ALICE);
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  await goByKeys(page, "g s", "/settings");
  await page.getByRole("link", { name: /^About and doctor/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("listitem").filter({ hasText: "Agents use the demo model" }).waitFor();
  expect(await page.getByText("The data directory").count()).toBe(0);
  await page.getByRole("button", { name: "Look again, and try the model" }).click();
  await page.getByRole("listitem").filter({ hasText: "demo model" }).waitFor();
  const admin = await desktop.goAs(ROOT, "/settings/about");
  await admin.getByText(/The data directory can be written to/).waitFor();
});

test("axe finds no violations on any page in either theme, and a phone scrolls only vertically", async () => {
  for (const look of [WIDE, PHONE]) {
    const page = await desktop.openAs(ALICE, "/settings", look);
    await page.getByRole("link", { name: /^Tokens/ }).waitFor();
    await expectClean(page);
    for (const id of OWN) await visit(page, id);
    await page.context().close();
    const admin = await desktop.openAs(ROOT, "/settings", look);
    for (const id of ["ai", "users", "network", "about"]) await visit(admin, id);
    await admin.context().close();
  }
});

test("no page had unexpected errors", () => {
  expect(desktop.problems).toEqual([]);
});

async function visit(page: Page, id: string): Promise<void> {
  await page.goto(`${desktop.host.url}/settings/${id}`);
  await page.locator(".settings-content h2").first().waitFor();
  await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
  await expectClean(page);
}

async function expectClean(page: Page): Promise<void> {
  expect(await violationsInBothThemes(page), page.url()).toEqual([]);
  expect(await page.locator(".pane-body").evaluate((body) => body.scrollWidth - body.clientWidth), page.url()).toBe(0);
}

async function value(key: string): Promise<string | undefined> {
  return (await root.call("sys.config.get", { key })).entries[0]?.value;
}
