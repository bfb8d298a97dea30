// Integrations in the web desktop, in a real browser, with real MCP servers and a real OAuth provider: adding a server, signing in to it
// in a second tab, what agents may call of it, what happens when it changes, accounts, and skills.

import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { userPolicyKey } from "../../src/kernel/agents/policies.ts";
import { messageField, messageList } from "../support/chat-page.ts";
import { type Desktop, hasFocus, PHONE, startDesktop, violationsInBothThemes } from "../support/desktop.ts";
import { startMcpServer, type TestMcpServer, type TestMcpServerOptions } from "../support/mcp/server.ts";
import { ScriptedModel, says, wants } from "../support/models/scripted.ts";
import { protectedResource, signIn, startAuthorizationServer } from "../support/oauth/authorization-server.ts";
import { ALICE, enter, ROOT } from "../support/people.ts";
import { tooWide } from "../support/widths.ts";

/** What the gateway sends to the page of `show`. */
type Line = { isDown: boolean; cut(): void; holdSignals(): void; releaseSignals(): void };

let desktop: Desktop;
let alice: Client;
let model: ScriptedModel;
let line: Line;
const peers: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  desktop = await startDesktop();
  alice = await enter(desktop.host, ALICE);
  model = await ScriptedModel.start();
  const root = await enter(desktop.host, ROOT);
  await model.serve(root, alice.session.identity.process.uid);
  await root.call("sys.config.set", { key: "config/net/allowed_hosts", value: "127.0.0.1" });
  root.close();
  const page = await desktop.goAs(ALICE);
  line = await routeConnection(page);
});

afterEach(async () => {
  const { servers } = await alice.call("sys.mcp.list", {});
  await Promise.all(servers.map(({ serverId }) => alice.call("sys.mcp.remove", { serverId })));
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
});

afterAll(async () => {
  alice?.close();
  await model?.close();
  await desktop?.close();
});

test("without servers the screen says what one is for, and the form says what is wrong with an address, a name or a header", async () => {
  const page = await show("/integrations");
  await page.getByRole("heading", { name: "No servers yet" }).waitFor();
  await expectClean(page);
  await page.getByRole("button", { name: "Add a server" }).click();
  const [address, name] = [page.getByLabel("Address"), page.getByLabel("Name", { exact: true })];
  await hasFocus(address);
  await page.keyboard.press("Enter");
  await page.getByText("Enter the address of the server").waitFor();
  await page.getByText("Give it a name").waitFor();
  await address.fill("no address");
  await page.getByText("Enter the address of the server").waitFor();
  await address.fill("https://");
  await page.getByText("Enter the address of the server").waitFor();
  await address.fill("http://mcp.example/mcp");
  await page.getByText("It must begin with https").waitFor();
  await address.fill("https://ada:secret@mcp.example/mcp");
  await page.getByText("Leave the user name and password out").waitFor();
  await address.fill("mcp.linear.example/mcp");
  await expect.poll(() => name.inputValue()).toBe("Linear");
  await name.fill(" ");
  await page.getByText("Give it a name").waitFor();
  await name.fill("Linear");
  await page.locator("summary").filter({ hasText: "More" }).click();
  await page.getByRole("button", { name: "Add a header" }).click();
  await page.getByLabel("Name of header 1").fill("X Key");
  await page.getByLabel("Value of header 1").fill("k");
  await page.getByText("X Key is not the name of a header").waitFor();
  await page.getByLabel("Client secret").fill("s");
  await page.getByText("The client ID is missing").waitFor();
  await expectClean(page);
  await page.getByRole("button", { name: "Connect" }).click();
  expect((await alice.call("sys.mcp.list", {})).servers).toEqual([]);
});

test("a server that cannot be reached is not kept, and the form says why", async () => {
  const peer = await startPeer();
  await peer.close();
  const page = await show("/integrations/add");
  // Without a scheme, as people type it.
  await page.getByLabel("Address").fill(peer.url.replace("http://", ""));
  await page.getByLabel("Name", { exact: true }).fill("Nobody");
  await page.keyboard.press("Enter");
  await page
    .getByRole("alert")
    .getByText(/^Cannot connect to 127\.0\.0\.1 port \d+ .*check that the server is up/)
    .waitFor();
  expect((await alice.call("sys.mcp.list", {})).servers).toEqual([]);
  expect(await page.getByLabel("Address").inputValue()).not.toBe("");
});

test("a server is added by keyboard alone, and its tools show what they take and how scripts call them", async () => {
  const peer = await startPeer({ instructions: "Add before you echo." });
  const page = await show("/integrations");
  await press(page, page.getByRole("button", { name: "Add a server" }));
  await hasFocus(page.getByLabel("Address"));
  await page.keyboard.type(peer.url);
  await page.keyboard.press("Tab");
  await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("127.0.0.1");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Sums");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Sums" }).waitFor();
  await status(page, "Ready");
  await page.getByText("4 tools, 1 resource, 1 prompt").waitFor();
  await press(page, page.locator("summary").filter({ hasText: "Adds two numbers" }));
  await page.getByRole("group", { name: "What add takes" }).getByText('"type": "number"').first().waitFor();
  await page.getByRole("group", { name: "What add returns" }).getByText('"sum"').first().waitFor();
  const declaration = await page.getByRole("group", { name: "In scripts: add" }).innerText();
  expect(declaration).toContain("declare function add(input: AddInput): Promise<AddOutput>;");
  await page.getByRole("group", { name: "Instructions of the server" }).getByText("Add before you echo.").waitFor();
  await expectClean(page);
  await press(page, page.getByRole("link", { name: "All servers" }));
  await page.getByText("1 server, 4 tools for your agents").waitFor();
  await entry(page, "Sums").getByText("Ready").waitFor();
  await press(page, page.getByRole("link", { name: "Sums" }));
  await page.getByRole("heading", { level: 1, name: "Sums" }).waitFor();
});

test("of many rights that a sign-in asks for, the first are listed and the others counted", async () => {
  const { peer } = await startProtected(Array.from({ length: 25 }, (_, at) => `right.${at}`));
  const { server } = await alice.call("sys.mcp.add", { name: "Mail", url: peer.url, callbackHost: desktop.host.url });
  const page = await show(`/integrations/server/${server.serverId}`);
  const card = page.getByRole("region", { name: "Sign in" });
  await card.getByText("and 5 more").waitFor();
  expect(await card.getByRole("code").allInnerTexts()).toEqual(Array.from({ length: 20 }, (_, at) => `right.${at}`));
});

test("signing in, in a second tab, makes the server ready in the first without a reload", async () => {
  const { peer, provider } = await startProtected();
  const page = await show("/integrations/add");
  await page.getByLabel("Address").fill(peer.url);
  await page.getByLabel("Name", { exact: true }).fill("Mail");
  await page.getByRole("button", { name: "Connect" }).click();
  const host = new URL(provider.issuer).host;
  const card = page.getByRole("region", { name: "Sign in" });
  await card.getByText(`It sends you to ${host}`).waitFor();
  for (const scope of provider.scopes) await card.getByText(scope, { exact: true }).waitFor();
  await status(page, "Needs sign-in");
  await waiting(page, 1);
  await expectClean(page);
  const opened = await page.evaluate(() => performance.timeOrigin);
  const [tab] = await Promise.all([
    page.context().waitForEvent("page"),
    card.getByRole("link", { name: `Sign in at ${host} (opens in a new tab)` }).click(),
  ]);
  await tab.getByRole("heading", { name: "Signed in" }).waitFor();
  await tab.getByText(/GSV is now signed in to Mail/).waitFor();
  await status(page, "Ready");
  await card.waitFor({ state: "detached" });
  await page.locator("summary").filter({ hasText: "echo" }).waitFor();
  await waiting(page, 0);
  expect(await page.evaluate(() => performance.timeOrigin)).toBe(opened);
  await tab.getByRole("link", { name: "Open Integrations in GSV" }).click();
  await tab.getByRole("heading", { level: 1, name: /^(?:Mail|Integrations)$/ }).waitFor();
  await tab.getByText("Ready").first().waitFor();
  await tab.close();
});

test("a sign-in that the provider refuses is explained in both tabs, and can be started again", async () => {
  const { peer, provider } = await startProtected();
  const page = await showServer("Mail", peer);
  provider.isDeclining = true;
  const link = page.getByRole("link", { name: /^Sign in at/ });
  const [tab] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
  await tab.getByRole("heading", { name: "The provider refused the sign-in" }).waitFor();
  await tab.close();
  const card = page.getByRole("region", { name: "Sign in" });
  await card.getByRole("alert").getByText("The provider refused the sign-in").waitFor();
  await card.getByText("the person declined").waitFor();
  await link.waitFor({ state: "detached" });
  await expectClean(page);
  await card.getByRole("button", { name: "Get a sign-in link" }).click();
  await link.waitFor();
  expect(await card.getByRole("alert").count()).toBe(0);
});

test("an account says what uses it, and forgetting it makes the server want a sign-in again", async () => {
  const { peer, provider } = await startProtected();
  const { serverId } = await signInTo("Mail", peer);
  const { peer: other } = await startProtected();
  await alice.call("sys.mcp.add", { name: "Calendar", url: other.url });
  const page = await show("/integrations/accounts");
  const account = entry(page, "Forget Mail");
  await account.getByText("Used by Mail").waitFor();
  await account.getByText(`at ${new URL(provider.issuer).host}, may mcp`).waitFor();
  const flow = entry(page, "Sign-in not finished");
  await flow.getByText("Calendar").waitFor();
  await expectClean(page);
  await account.getByRole("button", { name: "Forget Mail" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Your agents cannot use Mail until you sign in again.").waitFor();
  await expectClean(page);
  await dialog.getByRole("button", { name: "Forget it" }).click();
  await account.waitFor({ state: "detached" });
  await waiting(page, 2);
  await flow.getByRole("link", { name: "Continue" }).click();
  await page.getByRole("heading", { level: 1, name: "Calendar" }).waitFor();
  await page.getByRole("link", { name: "All servers" }).click();
  await entry(page, "Calendar")
    .getByRole("link", { name: /^Sign in at/ })
    .waitFor();
  await entry(page, "Mail").getByText("Needs sign-in").waitFor();
  await page.getByRole("button", { name: "Sign in: Mail" }).click();
  await entry(page, "Mail")
    .getByRole("link", { name: /^Sign in at/ })
    .waitFor();
  expect((await alice.call("sys.mcp.list", {})).servers.find((server) => server.serverId === serverId)?.tools).toEqual([]);
});

test("a server that wants more rights for one tool stays ready, and says what a new sign-in is for", async () => {
  const { peer, provider } = await startProtected();
  const { serverId } = await signInTo("Mail", peer);
  const page = await show(`/integrations/server/${serverId}`);
  await status(page, "Ready");
  const { authorize } = peer;
  const challenge = `Bearer error="insufficient_scope", scope="mcp more", resource_metadata="${peer.origin}/.well-known/oauth-protected-resource/mcp"`;
  peer.authorize = () => ({ status: 403, wwwAuthenticate: challenge });
  await expect(alice.call("sys.mcp.call", { serverId, name: "echo", arguments: { text: "x" } })).rejects.toThrow(
    /sign-in with more rights/,
  );
  peer.authorize = authorize;
  const card = page.getByRole("region", { name: "Sign in again for more rights" });
  await card.getByRole("link", { name: `Sign in at ${new URL(provider.issuer).host} (opens in a new tab)` }).waitFor();
  await page.getByText("Wants more rights").waitFor();
  await page.locator("summary").filter({ hasText: "echo" }).waitFor();
  await waiting(page, 1);
  await expectClean(page);
});

test("an agent's call is asked about by tool and server; a tool that has changed is refused until a person has accepted it", async () => {
  const peer = await startPeer();
  await alice.call("sys.mcp.add", { name: "Notes", url: peer.url });
  const { pid } = await alice.call("proc.spawn", { profile: "task", label: "echo" });
  const chat = `/chat/${pid}/default`;
  const page = await show(chat);
  const answer = await askEcho(page, "echo it");
  const question = page.getByRole("region", { name: "Call echo of Notes?" });
  await question.getByRole("group", { name: "What is done" }).getByText("text: hi").waitFor();
  expect(peer.calls).toEqual([]);
  await question.getByRole("button", { name: "Allow", exact: true }).click();
  await answer.waitFor();
  await page.getByRole("button", { name: /^Ran a script .*done/ }).click();
  expect(await page.getByRole("group", { name: "Result" }).innerText()).toBe("hi");
  expect(peer.calls).toHaveLength(1);

  await setPolicy({ default: "auto", rules: [] });
  change(peer, "Returns the text.");
  await (await askEcho(page, "echo it again")).waitFor();
  await page.getByRole("button", { name: /^Ran a script .*failed/ }).click();
  await page.getByRole("group", { name: "Error" }).getByText("echo of Notes has changed since it was accepted").waitFor();
  expect(peer.calls).toHaveLength(1);

  await waiting(page, 1);
  await page.getByRole("link", { name: /^Integrations/ }).click();
  await entry(page, "Notes").getByText("1 change to review").waitFor();
  await expectClean(page);
  await press(page, page.getByRole("link", { name: "Review the changes of Notes" }));
  const review = page.getByRole("region", { name: "Review what has changed" });
  const diff = review.getByRole("group", { name: "Description, before and after" });
  await expect
    .poll(() => diff.locator("del, ins").allTextContents())
    .toEqual(["−Before: Returns the text\n", "+After: Returns the text.\n"]);
  expect(await diff.locator("mark").allTextContents()).toEqual(["."]);
  expect(await review.getByRole("group").count()).toBe(1);
  await isReady(page);
  await expectClean(page);
  await page.getByText("Blocked until you have accepted its change above: echo").waitFor();
  await press(page, review.getByRole("button", { name: "Accept echo" }));
  await review.waitFor({ state: "detached" });
  await page.getByText("Accepted: agents can call echo").waitFor();
  await page.locator("summary").filter({ hasText: "Returns the text." }).waitFor();
  await waiting(page, 0);

  await page.goto(`${desktop.host.url}${chat}`);
  await (await askEcho(page, "echo it once more")).waitFor();
  expect(peer.calls).toHaveLength(2);
  await setPolicy(null);
});

test("a change that changes again before it is accepted is refused, and shown anew", async () => {
  const peer = await startPeer();
  const page = await showServer("Notes", peer);
  await status(page, "Ready");
  change(peer, "Returns the text at once", "add");
  const review = page.getByRole("region", { name: "Review what has changed" });
  const { server } = await alice.call("sys.mcp.refresh", { serverId: serverIdOf(page) });
  await review.getByText("Returns the text at once").waitFor();
  await isReady(page);
  line.holdSignals();
  change(peer, "Sends the text to everybody");
  await alice.call("sys.mcp.refresh", { serverId: server!.serverId });
  await review.getByRole("button", { name: "Accept all 2" }).click();
  await review.getByRole("alert").getByText("echo has changed again since it was shown").waitFor();
  await review.getByText("Sends the text to everybody").waitFor();
  line.releaseSignals();
  expect((await alice.call("sys.mcp.list", {})).servers[0]?.changes.map(({ name }) => name)).toEqual(["add", "echo"]);
  await expectClean(page);
  await isReady(page);
  await review.getByRole("button", { name: "Accept echo" }).click();
  await expect.poll(() => review.getByRole("heading", { level: 3 }).allInnerTexts()).toEqual(["add"]);
  expect(await review.getByRole("alert").count()).toBe(0);
});

test("a new tool waits to be accepted, and says so where tools are listed", async () => {
  const peer = await startPeer({ tools: [] });
  const page = await showServer("Notes", peer);
  await page.getByText("There is none to call.").waitFor();
  peer.tools = [{ name: "erase", description: "Erases everything", inputSchema: { type: "object" } }];
  await page.getByRole("button", { name: "Connect again" }).click();
  const review = page.getByRole("region", { name: "Review new tools" });
  await review.getByText("Erases everything").waitFor();
  await review.getByText("New", { exact: true }).waitFor();
  await page.getByText("None can be called until you accept what has changed (1 change).").waitFor();
});

test("a server that fails says why, is tried again on request, and is removed", async () => {
  const peer = await startPeer();
  const page = await showServer("Notes", peer);
  await status(page, "Ready");
  peer.authorize = () => ({ status: 403, wwwAuthenticate: "" });
  await page.getByRole("button", { name: "Connect again" }).click();
  await status(page, "Not working");
  await page.getByRole("alert").getByText("refuses access (403).").waitFor();
  await page.getByText("They appear here once the server works.").waitFor();
  await expectClean(page);
  await page.getByRole("link", { name: "All servers" }).click();
  await entry(page, "Notes").getByText("refuses access (403).").waitFor();
  await page.getByRole("button", { name: "Try again: Notes" }).click();
  await entry(page, "Notes").getByText("refuses access (403).").waitFor();
  await expectClean(page);
  peer.authorize = null;
  await page.getByRole("button", { name: "Try again: Notes" }).click();
  await entry(page, "Notes").getByText("Ready").waitFor();
  await page.getByRole("link", { name: "Notes" }).click();
  await page.getByRole("button", { name: "Remove…" }).click();
  await page.getByRole("dialog").getByText("Agents and scripts can no longer use its tools.").waitFor();
  await expectClean(page);
  await page.getByRole("button", { name: "Remove it" }).click();
  await page.getByRole("heading", { name: "No servers yet" }).waitFor();
  expect((await alice.call("sys.mcp.list", {})).servers).toEqual([]);
});

test("a page that loses its gateway keeps what it shows, and catches up when it is back", async () => {
  const peer = await startPeer();
  const page = await showServer("Notes", peer);
  await status(page, "Ready");
  line.isDown = true;
  line.cut();
  await page.getByText("Connection lost").waitFor();
  await page.locator("summary").filter({ hasText: "Adds two numbers" }).waitFor();
  change(peer, "Returns the text twice");
  await alice.call("sys.mcp.refresh", { serverId: serverIdOf(page) });
  line.isDown = false;
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.getByText("Connection lost").waitFor({ state: "detached" });
  await page.getByRole("region", { name: "Review what has changed" }).getByText("Returns the text twice").waitFor();
  await alice.call("sys.mcp.remove", { serverId: serverIdOf(page) });
  await page.getByRole("heading", { name: "There is no such server" }).waitFor();
});

test("a shipped skill is read and copied, and a copy that was changed elsewhere is not overwritten", async () => {
  const page = await show("/integrations/skills");
  await page.getByRole("link", { name: /^writing-skills/ }).waitFor();
  await expectClean(page);
  await page.getByRole("link", { name: /^writing-skills/ }).click();
  const text = page.getByRole("group", { name: "The text of the skill" });
  await text.getByText("# Writing skills").waitFor();
  expect(await page.getByRole("button", { name: "Edit" }).count()).toBe(0);
  await expectClean(page);
  await page.getByRole("button", { name: "Make your own copy" }).click();
  await page.getByText("Yours", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  const field = page.getByLabel("Text");
  await hasFocus(field);
  const path = "~/skills.d/writing-skills.md";
  const before = await field.inputValue();
  await field.fill("");
  await page.getByText("An empty file is no skill").waitFor();
  await field.fill("Only this.");
  await page.getByText("Its description is gone.").waitFor();
  await expectClean(page);
  await field.fill(`${before}\nMine.\n`);
  expect(await page.getByText("Its description is gone.").count()).toBe(0);
  await alice.call("fs.write", { path, content: `${before}\nElsewhere.\n` });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("It was changed elsewhere while you edited. Nothing is saved yet.").waitFor();
  await expectClean(page);
  expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  expect(await readText(path)).toContain("Elsewhere.");
  await page.getByRole("button", { name: "Keep mine" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await text.getByText("Mine.").waitFor();
  expect(await readText(path)).toBe(`${before}\nMine.\n`);
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByText("your agents use that one again").waitFor();
  await expectClean(page);
  await page.getByRole("button", { name: "Delete it" }).click();
  await page.getByRole("link", { name: /^writing-skills From the gateway/ }).waitFor();
  expect(await page.getByRole("link", { name: /^writing-skills Yours/ }).count()).toBe(0);
});

test("a skill is written, agents know it, and a second one of its name is refused", async () => {
  const page = await show("/integrations/skills");
  await page.getByRole("button", { name: "Write a skill" }).click();
  await hasFocus(page.getByLabel("Name", { exact: true }));
  await page.getByRole("button", { name: "Save the skill" }).click();
  await page.getByText("Agents choose by these words.").waitFor();
  await expectClean(page);
  await fillSkill(page);
  await page.getByRole("link", { name: /^water-plants Yours/ }).waitFor();
  const { skills } = await alice.call("ai.skills", {});
  expect(skills.find(({ name }) => name === "water-plants")?.description).toBe("Water the plants: how much");
  await page.getByRole("button", { name: "Write a skill" }).click();
  await fillSkill(page);
  await page.getByRole("alert").getByText("There is a file ~/skills.d/water-plants.md already").waitFor();
  await page.getByRole("link", { name: "All skills" }).click();
  await page.getByRole("link", { name: /^water-plants/ }).click();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete it" }).click();
  await page.getByRole("button", { name: "Write a skill" }).waitFor();
  await page.getByRole("link", { name: /^water-plants/ }).waitFor({ state: "detached" });
});

test("axe finds no violations on a phone", async () => {
  const peer = await startPeer();
  const { server } = await alice.call("sys.mcp.add", { name: "Notes", url: peer.url });
  change(peer, "Returns the text\nto whoever asks");
  await alice.call("sys.mcp.refresh", { serverId: server.serverId });
  const page = await desktop.openAs(ALICE, "/integrations", PHONE);
  await entry(page, "Notes").getByText("1 change to review").waitFor();
  await expectClean(page);
  await page.getByRole("link", { name: "Notes", exact: true }).click();
  await isReady(page);
  await expectClean(page);
  await page.context().close();
});

test("no page had unexpected errors", () => {
  expect(desktop.problems).toEqual([]);
});

/** The page of alice, which the routed connection belongs to. */
async function show(path: string): Promise<Page> {
  const page = await desktop.goAs(ALICE, path);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

async function showServer(name: string, peer: TestMcpServer): Promise<Page> {
  const { server } = await alice.call("sys.mcp.add", { name, url: peer.url, callbackHost: desktop.host.url });
  const page = await show(`/integrations/server/${server.serverId}`);
  await page.getByRole("heading", { level: 1, name }).waitFor();
  return page;
}

function serverIdOf(page: Page): string {
  return page.url().split("/").at(-1)!;
}

async function startPeer(options: TestMcpServerOptions = {}): Promise<TestMcpServer> {
  const peer = await startMcpServer(options);
  peers.push(peer);
  return peer;
}

async function startProtected(scopes?: string[]) {
  const peer = await startPeer();
  const provider = await startAuthorizationServer(scopes === undefined ? {} : { scopes });
  peers.push(provider);
  protectedResource(peer, provider);
  return { peer, provider };
}

async function signInTo(name: string, peer: TestMcpServer) {
  const { server } = await alice.call("sys.mcp.add", { name, url: peer.url, callbackHost: desktop.host.url });
  await fetch(await signIn(server.authUrl!));
  await expect.poll(async () => (await alice.call("sys.mcp.list", {})).servers.map(({ state }) => state)).toEqual(["ready"]);
  return server;
}

/** The server forgets its sessions, so that whoever calls next reads its tools again. */
function change(peer: TestMcpServer, description: string, ...more: string[]): void {
  peer.tools = peer.tools.map((tool) => {
    if (tool.name === "echo") return { ...tool, description };
    return more.includes(tool.name) ? { ...tool, description: `${tool.description}, somehow` } : tool;
  });
  peer.endSessions();
}

/** Of a task, and of the agent that it belongs to; null for the default. */
async function setPolicy(policy: object | null): Promise<void> {
  const { uid } = alice.session.identity.process;
  const value = policy === null ? "" : JSON.stringify(policy);
  for (const profile of ["task", "init"]) await alice.call("sys.config.set", { key: userPolicyKey(uid, profile), value });
}

/** Lets an agent call echo in a script. Returns its answer after that. */
async function askEcho(page: Page, prompt: string): Promise<Locator> {
  model.on(prompt, wants(["CodeMode", { code: 'return await echo({ text: "hi" })' }]), says(`Did: ${prompt}.`));
  await messageField(page).fill(prompt);
  await messageField(page).press("Enter");
  return messageList(page).getByText(`Did: ${prompt}.`);
}

/** An entry of a list, by its words or the name of its button. */
function entry(page: Page, words: string): Locator {
  const entries = page.locator(".entries").getByRole("listitem");
  return entries.filter({ hasText: words }).or(entries.filter({ has: page.getByRole("button", { name: words, exact: true }) }));
}

async function status(page: Page, word: string): Promise<void> {
  await page.getByRole("region", { name: "Status" }).getByText(word, { exact: true }).waitFor();
}

/** The count in the bar. */
async function waiting(page: Page, count: number): Promise<void> {
  const place = page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: /^Integrations/ });
  await expect.poll(() => place.innerText()).toMatch(count === 0 ? /^Integrations$/ : new RegExp(`^Integrations\\s+${count}\\s+waiting$`));
}

/** Whether the buttons for changes may be pressed: right after they appear they may not. */
async function isReady(page: Page): Promise<void> {
  await page.locator(".changes[data-ready=true]").waitFor();
}

/** Moves the focus with Tab to the element and presses Enter there. */
async function press(page: Page, element: Locator): Promise<void> {
  await element.waitFor();
  const isThere = () => element.evaluate((one) => one === document.activeElement);
  while (!(await isThere())) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
}

async function fillSkill(page: Page): Promise<void> {
  await page.getByLabel("Name", { exact: true }).fill("Water plants");
  await page.getByLabel("When to use it").fill("Water the plants: how much");
  await page.getByLabel("What to do").fill("1. Take the can.\n2. Never water the cactus.");
  await page.getByRole("button", { name: "Save the skill" }).click();
}

async function readText(path: string): Promise<unknown> {
  const read = await alice.call("fs.read", { path, plain: true });
  return read.ok && "content" in read ? read.content : null;
}

async function expectClean(page: Page): Promise<void> {
  expect(await violationsInBothThemes(page), page.url()).toEqual([]);
  expect(await tooWide(page), page.url()).toEqual([]);
}

/** For the sockets that the page opens from now on. */
async function routeConnection(page: Page): Promise<Line> {
  let held: (() => void)[] | null = null;
  const routed: Line = {
    isDown: false,
    cut: () => {},
    holdSignals: () => void (held = []),
    releaseSignals: () => {
      for (const send of held ?? []) send();
      held = null;
    },
  };
  await page.routeWebSocket(/\/ws$/, (socket) => {
    if (routed.isDown) return void socket.close({ code: 3001 });
    const server = socket.connectToServer();
    routed.cut = () => void Promise.all([socket.close({ code: 3001 }), server.close()]);
    server.onMessage((frame) => {
      const isSignal = String(frame).includes('"type":"sig"');
      if (held !== null && isSignal) held.push(() => socket.send(frame));
      else socket.send(frame);
    });
  });
  return routed;
}
