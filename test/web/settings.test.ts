// Settings in the web desktop, page by page, as root and as a user.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import {
  type Desktop,
  goByKeys,
  PHONE,
  startDesktop,
  violations,
  violationsBesidesColours,
  violationsInBothThemes,
  WIDE,
} from "../support/desktop.ts";
import { startMcpServer } from "../support/mcp/server.ts";
import { ScriptedModel, says } from "../support/models/scripted.ts";
import { ALICE, BOB, enter, ROOT } from "../support/people.ts";
import { plugIn } from "../support/devices.ts";

const CAROL = { username: "carol", password: "a long enough one" };
const OWN = ["ai", "permissions", "limits", "tokens", "notifications", "account", "appearance", "gateway"];

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

test("AI: root tests a model before it is saved, chooses from the models it lists, and its key is never shown again and sent nowhere else", async () => {
  const model = await ScriptedModel.start();
  const { provider, base_url, api_key } = model.settings("chat");
  const page = await desktop.openAs(ROOT, "/settings/ai");
  const tab = await page.context().newPage();
  await tab.goto(`${desktop.host.url}/settings/ai`);
  await tab.getByText("Active: demo").waitFor();
  await page.getByRole("radio", { name: "A model server of your own" }).check({ force: true });
  await page.getByRole("button", { name: "Search again" }).waitFor();
  await page.getByLabel("Server", { exact: true }).selectOption(provider);
  await page.getByText("Enter the address of the server").waitFor();
  expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await page.getByLabel("Address", { exact: true }).fill(base_url);
  await page.getByLabel("API key", { exact: true }).fill(api_key);
  await page.getByRole("textbox", { name: "Model", exact: true }).fill(model.name);
  model.on("Answer with the single word: ready", says("ready"));
  await page.getByRole("button", { name: "Test connection" }).click();
  await page
    .getByRole("status")
    .getByText(new RegExp(`^${model.name} answered in`))
    .waitFor();
  expect(await value("config/ai/provider")).toBe("demo");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();
  expect(await value("config/ai/api_key")).toBe(api_key);
  await tab.getByText(`Active: ${model.name} on OpenAI-compatible server`).waitFor();
  await page.reload();
  await page.getByText("One is stored and is never shown").waitFor();
  expect(await page.getByLabel("API key", { exact: true }).inputValue()).toBe("");
  expect(await page.content()).not.toContain(api_key);

  const other = await desktop.goAs(ALICE, "/settings/ai");
  await other.getByRole("radio", { name: `Default (${model.name} on OpenAI-compatible server)` }).waitFor();
  expect(await other.getByText("These settings are").count()).toBe(0);
  expect(await other.content()).not.toContain(api_key);

  await page.getByLabel("Address", { exact: true }).fill("http://127.0.0.1:9/v1");
  await page.getByText("was for another place and will be removed").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => value("config/ai/base_url")).toBe("http://127.0.0.1:9/v1");
  expect(await value("config/ai/api_key")).toBe("");
  await page.getByRole("status").getByText("Saved").waitFor();
  await page.getByRole("radio", { name: "The demo model" }).check({ force: true });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();
  expect(await Promise.all(["provider", "base_url"].map((name) => value(`config/ai/${name}`)))).toEqual(["demo", ""]);
  await root.call("sys.config.set", { key: "config/ai/model", value: "demo" });
  await page.context().close();
  await model.close();
});

test("AI: who is not root is told who can allow a model server of their own network, and that what was saved does not answer", async () => {
  const { uid } = alice.session.identity.process;
  const page = await desktop.goAs(ALICE, "/settings/ai");
  await page.getByText("People, network and settings for everyone belong to the administrator").waitFor();
  await page.getByRole("radio", { name: "A model server of your own" }).check({ force: true });
  await page.getByText("Only the administrator (root) can allow servers on this computer or network").waitFor();
  await page.getByLabel("Address", { exact: true }).fill("https://models.example.com/v1");
  expect(await page.getByText("Only the administrator (root)").count()).toBe(0);
  await page.getByLabel("Address", { exact: true }).fill("http://127.0.0.1:9/v1");
  await page.getByRole("textbox", { name: "Model", exact: true }).fill("small");
  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByRole("status").getByText("only public hosts can be reached").waitFor();
  await page.getByText("and allow 127.0.0.1:9.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved, but it does not answer yet").waitFor();
  expect(await violations(page)).toEqual([]);
  for (const name of ["provider", "model", "base_url"]) await alice.call("sys.config.set", { key: `users/${uid}/ai/${name}`, value: "" });
});

test("AI: what somebody else changes meanwhile stays, and what was typed here too", async () => {
  const { uid } = alice.session.identity.process;
  const page = await desktop.goAs(ALICE, "/settings/ai");
  await page.getByLabel("Thinking").selectOption("high");
  await alice.call("sys.config.set", { key: `users/${uid}/ai/max_tokens`, value: "4000" });
  await expect.poll(() => page.getByLabel("Longest answer, in tokens").inputValue()).toBe("4000");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();
  expect(await Promise.all(["reasoning", "max_tokens"].map((name) => value(`users/${uid}/ai/${name}`)))).toEqual(["high", "4000"]);
  for (const name of ["reasoning", "max_tokens"]) await alice.call("sys.config.set", { key: `users/${uid}/ai/${name}`, value: "" });
});

test("changes that are not saved stay while another page is shown, which says so", async () => {
  const page = await desktop.goAs(ALICE, "/settings/limits");
  const limit = () =>
    page
      .getByRole("group", { name: /^Per run/ })
      .getByRole("textbox")
      .first();
  await limit().fill("3.50");
  await page.getByText("Not saved yet", { exact: true }).waitFor();
  await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Machines" }).click();
  await page.getByText("Your changes in Settings, Limits are not saved yet.").waitFor();
  await page.getByRole("button", { name: "Review", exact: true }).click();
  await page.getByText("Not saved yet", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Limits Changes not saved yet" }).waitFor();
  expect(await limit().inputValue()).toBe("3.50");
  await page.getByRole("button", { name: "Discard changes" }).click();
  await page
    .getByRole("navigation", { name: "Settings" })
    .getByRole("link", { name: /^Account/ })
    .click();
  await page.getByRole("heading", { level: 1, name: "Settings: Account" }).waitFor();
  expect(await page.getByText("are not saved yet").count()).toBe(0);
});

test("approvals: a switch decides what agents may do, for one machine too, and says what a wide choice means", async () => {
  const { uid } = alice.session.identity.process;
  const laptop = await plugIn(desktop.host, alice, "laptop");
  const run = async (input: string, target: string) =>
    (await alice.call("proc.approval.preview", { call: "shell.exec", args: { input, target } })).action;
  const page = await desktop.goAs(ALICE, "/settings/policy");
  await page.waitForURL("**/settings/permissions");
  await page.getByRole("heading", { name: "Using the default policy" }).waitFor();
  const gateway = (name: string) => page.getByRole("group", { name: `${name}: On the gateway` });
  expect(await page.getByLabel("Kind of agent").evaluate((select: HTMLSelectElement) => select.selectedOptions[0]!.text)).toBe(
    "All agents",
  );
  expect(await gateway("Delete").getByRole("radio").count()).toBe(3);
  await gateway("Delete").getByLabel("Never").check();
  await page.getByRole("heading", { name: "Using a policy of your own" }).waitFor();
  await page.getByText("there, Ask means that it does not run").waitFor();
  await page.getByRole("region", { name: "What would change" }).getByText("Delete by a command on the gateway").waitFor();
  await page.getByLabel("What an agent wants to do").selectOption("Delete a file on the gateway");
  await page.getByRole("region", { name: "Try a call" }).getByText("Never runs").waitFor();
  await page.getByLabel("Other rules for one machine").selectOption("laptop");
  await page.getByRole("group", { name: "Run commands: On laptop" }).getByLabel("Allow").check();
  await page.getByText("Agents may then run commands on laptop without asking, except commands that").waitFor();
  expect(await violations(page)).toEqual([]);
  expect([await run("uptime", "laptop"), await run("rm x", "gsv")]).toEqual(["ask", "ask"]);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();
  expect([await run("uptime", "laptop"), await run("uptime", "server"), await run("rm x", "laptop"), await run("rm x", "gsv")]).toEqual([
    "auto",
    "ask",
    "ask",
    "deny",
  ]);
  // Every kind of agent got it.
  const policies = await Promise.all(
    (await alice.call("proc.profile.list", {})).profiles.map(({ id }) => value(`users/${uid}/ai/profile/${id}/tools/approval`)),
  );
  expect(policies.length).toBeGreaterThan(3);
  expect([...new Set(policies)]).toEqual([expect.stringContaining('"laptop"')]);
  // The agent itself: what was allowed runs without a question.
  await alice.call("proc.send", { message: "run echo from-the-laptop on laptop" });
  await expect.poll(async () => JSON.stringify(await alice.call("proc.history", {}))).toContain("from-the-laptop\\n");
  expect((await alice.call("proc.approval.list", {})).pending).toEqual([]);
  await page.reload();
  await expect.poll(() => gateway("Delete").getByLabel("Never").isChecked()).toBe(true);
  laptop.close();
});

test("approvals: a policy that switches cannot express is shown as JSON, checked while typing, and never rewritten", async () => {
  const { uid } = alice.session.identity.process;
  const key = `users/${uid}/ai/profile/init/tools/approval`;
  const own = '{ "default": "deny", "rules": [{ "match": "fs.read", "action": "auto" }] }';
  const page = await desktop.goAs(ALICE, "/settings/permissions/advanced");
  await page.getByLabel("Kind of agent").selectOption("Personal agent");
  await alice.call("sys.config.set", { key, value: own });
  await page.getByText("This policy has rules that switches cannot show.").waitFor();
  const text = page.getByLabel("Policy, in JSON");
  await expect.poll(() => text.inputValue()).toBe(own);
  expect(await page.getByRole("group", { name: /: On the gateway$/ }).count()).toBe(0);
  await text.fill('{ "default": "deny", "rules": [');
  await page.getByText("it is not valid JSON").first().waitFor();
  expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await text.fill('{ "default": "deny", "rules": [{ "match": "fs.raed", "action": "auto" }] }');
  await page.getByText("there is no call fs.raed").first().waitFor();
  await alice.call("sys.config.set", { key, value: `${own} ` });
  await alice.call("sys.config.set", { key, value: '{ "default": "auto", "rules": [] }' });
  await page.getByText("This policy was changed elsewhere while you edited it.").waitFor();
  expect(await value(key)).toBe('{ "default": "auto", "rules": [] }');
  // No policy allows what only people may do.
  expect((await alice.call("proc.approval.preview", { call: "proc.hil", args: {} })).action).toBe("deny");
  await page.getByRole("button", { name: "Use the default policy" }).click();
  await page.getByRole("heading", { name: "Using the default policy" }).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();
  expect(await value(key)).toBe("");
  await page.getByLabel("Kind of agent").selectOption("Scheduled work");
  await page.getByText("Nobody can be asked while this work runs").waitFor();
  expect(
    await page
      .getByRole("group", { name: /^Delete: On (other )?machines$/ })
      .getByLabel("Never")
      .count(),
  ).toBe(1);
  expect(
    await page
      .getByRole("group", { name: /^Delete: On (other )?machines$/ })
      .getByLabel("Ask")
      .count(),
  ).toBe(0);
  // The personal agent has the default, the others what was saved for all: one policy for all replaces both.
  await page.getByLabel("Kind of agent").selectOption("All agents");
  await page.getByRole("heading", { name: "The policies differ" }).waitFor();
  await page.getByRole("button", { name: "Use the personal agent's for all" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Using the default policy" }).waitFor();
  expect(await value(`users/${uid}/ai/profile/cron/tools/approval`)).toBe("");
});

test("limits: usage is an accessible chart and a bar, and limits are stored as entered", async () => {
  const { uid } = alice.session.identity.process;
  await alice.call("proc.send", { message: "help" });
  await expect.poll(async () => (await alice.call("proc.spending", {})).days[0]?.spent.modelCalls ?? 0).toBeGreaterThan(0);
  const page = await desktop.goAs(ALICE, "/settings/ai");
  await page.getByLabel("Find a setting").fill("spend money");
  await page.getByRole("link", { name: /^Limit per day/ }).click();
  await page.waitForURL("**/settings/limits/day");
  await page
    .getByRole("listitem")
    .filter({ hasText: /^\d{1,2} \w{3,4}: [1-9][\d,]* tokens?, \d+ answers?, / })
    .first()
    .waitFor({ state: "attached" });
  const run = page.getByRole("group", { name: /^Per run/ });
  await run.getByText("Advanced").click();
  await run.getByLabel("Minutes").fill("soon");
  await run.getByText('Enter whole minutes, leave blank, or enter "unlimited".').waitFor();
  expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await run.getByLabel("Minutes").fill("30");
  const day = page.getByRole("group", { name: /^Per day/ });
  await day.getByLabel("Dollars").fill("2.50");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();
  await day.getByText("of $2.50").waitFor();
  expect(await day.getByRole("progressbar", { name: /^Today/ }).count()).toBe(1);
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
  await dialog.getByRole("button", { name: "Create token" }).click();
  const token = (await dialog.getByRole("group", { name: "the token" }).textContent())!;
  const entered = await enter(desktop.host, { username: ALICE.username, token });
  await dialog.getByRole("button", { name: "Done" }).click();
  await tab.getByText("backup script").waitFor();
  for (const each of [page, tab]) expect(await each.content()).not.toContain(token);
  await page.getByRole("button", { name: "Revoke backup script" }).click();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
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
  await page.getByText("No hosts. Only public addresses are reached.").waitFor();
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
  await page.getByText("No hosts. Only public addresses are reached.").waitFor();
  await server.close();

  const other = await desktop.goAs(ALICE, "/settings/network");
  await other.getByRole("heading", { name: "There is no such page of settings" }).waitFor();
});

test("users: root adds, locks and unlocks one, and fills a group; others have no such page", async () => {
  const page = await desktop.goAs(ROOT, "/settings/people");
  await page.getByRole("button", { name: "Add a user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("User name").fill("alice");
  await dialog.getByLabel("Password").fill(CAROL.password);
  await dialog.getByRole("button", { name: "Add" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("User name").fill(CAROL.username);
  await page.keyboard.press("Enter");
  await dialog.getByRole("group", { name: "the address" }).getByText(desktop.host.url).waitFor();
  await dialog.getByText("This address works only on this computer.").waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
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

  const other = await desktop.goAs(ALICE, "/settings/people");
  await other.getByRole("heading", { name: "There is no such page of settings" }).waitFor();
  await other.goto(`${desktop.host.url}/settings`);
  await other.getByRole("link", { name: /^Access tokens/ }).waitFor();
  expect(await other.getByRole("link", { name: /^People/ }).count()).toBe(0);
});

test("account and appearance: changing a password needs the current one, and the appearance is kept", async () => {
  const page = await desktop.openAs(BOB, "/settings/account");
  await page.getByLabel("Current password").fill("not this");
  await page.getByLabel("New password").fill("a better one");
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("That is not your current password.").waitFor();
  await page.getByLabel("Current password").fill(BOB.password);
  await page.keyboard.press("Enter");
  await page.getByRole("status").getByText("Saved").waitFor();
  (await enter(desktop.host, { ...BOB, password: "a better one" })).close();
  await page.goto(`${desktop.host.url}/settings/appearance`);
  await page.getByLabel("Dark").check();
  await page.getByLabel("Compact").check();
  await page.reload();
  await expect
    .poll(() => page.evaluate(() => Object.assign({}, document.documentElement.dataset)))
    .toEqual({ theme: "dark", density: "tight" });
  await page.context().close();
});

test("status: users see their own checks, root sees the host's, and the keyboard reaches it", async () => {
  const page = await desktop.goAs(ALICE);
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  await goByKeys(page, "g s", "/settings");
  await page.getByRole("link", { name: /^Status/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("listitem").filter({ hasText: "Agents use the demo model" }).waitFor();
  expect(await page.getByText("The data directory").count()).toBe(0);
  await page.getByRole("button", { name: "Run checks" }).click();
  await page.getByRole("listitem").filter({ hasText: "demo model" }).waitFor();
  const admin = await desktop.goAs(ROOT, "/settings/gateway");
  await admin.getByText(/The data directory can be written to/).waitFor();
});

test("axe finds no violations on any page in either theme, and a phone scrolls only vertically", async () => {
  for (const look of [WIDE, PHONE]) {
    const check = look === WIDE ? violationsInBothThemes : violationsBesidesColours;
    const page = await desktop.openAs(ALICE, "/settings", look);
    await page.getByRole("link", { name: /^Access tokens/ }).waitFor();
    await expectClean(page, violationsInBothThemes);
    await page.getByLabel("Find a setting").fill("theme");
    await page.getByRole("link", { name: /^Theme/ }).click();
    await page.locator("#setting-theme.settings-shown").waitFor();
    // On a phone those with the most in a row; widths.test.ts has all of them.
    for (const id of look === WIDE ? OWN : ["permissions", "notifications"]) await visit(page, id, check);
    await page.context().close();
    const admin = await desktop.openAs(ROOT, "/settings", look);
    for (const id of look === WIDE ? ["ai", "people", "network", "gateway"] : ["people"]) await visit(admin, id, check);
    await admin.context().close();
  }
});

test("no page had unexpected errors", () => {
  expect(desktop.problems).toEqual([]);
});

type Check = (page: Page) => Promise<string[]>;

async function visit(page: Page, id: string, check: Check): Promise<void> {
  await page.goto(`${desktop.host.url}/settings/${id}`);
  await page.locator(".settings-content h2").first().waitFor();
  await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
  await expectClean(page, check);
}

async function expectClean(page: Page, check: Check): Promise<void> {
  expect(await check(page), page.url()).toEqual([]);
  expect(await page.locator(".pane-body").evaluate((body) => body.scrollWidth - body.clientWidth), page.url()).toBe(0);
}

async function value(key: string): Promise<string | undefined> {
  return (await root.call("sys.config.get", { key })).entries[0]?.value;
}
