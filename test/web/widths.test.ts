// No screen, dialog or question of the web desktop is wider than its window, whatever long names, words and lines it contains.
// Tested on a touch screen, where letters and buttons are largest.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { messageField, messageList, readWhole } from "../support/chat-page.ts";
import { type Desktop, openPalette, PHONE, screenPaths, startDesktop } from "../support/desktop.ts";
import { plugIn, type TestDevice } from "../support/devices.ts";
import { readBody, sendJson, startMcpServer, type TestMcpServer } from "../support/mcp/server.ts";
import { ScriptedModel, says, wants } from "../support/models/scripted.ts";
import { ALICE, enter, ROOT } from "../support/people.ts";
import { tooWide, WIDTHS } from "../support/widths.ts";

const WORD = "unbroken".repeat(24);
const COMMAND = `echo ${WORD} && echo ${"--option=value ".repeat(30)}`;
const DEVICE = `laptop${WORD}`.slice(0, 64);
/** Markdown with long lines of every kind. */
const ANSWER = [
  `# ${WORD}`,
  `A paragraph with ${WORD}, \`${WORD}\` and https://example.com/${WORD}.`,
  `- ${WORD}\n  - ${WORD}\n    1. \`${WORD}\``,
  `- [ ] ${WORD}`,
  `> ${WORD}`,
  `\`\`\`sh\n${COMMAND}\n\`\`\``,
  `- in a list:\n\n  \`\`\`sh\n  ${COMMAND}\n  \`\`\``,
  `| ${"column | ".repeat(14)}\n|${"---|".repeat(14)}\n| ${"a few words | ".repeat(14)}\n| ${WORD} |`,
].join("\n\n");

let desktop: Desktop;
let alice: Client;
let device: TestDevice;
let model: ScriptedModel;
let page: Page;
const peers: TestMcpServer[] = [];

beforeAll(async () => {
  desktop = await startDesktop();
  alice = await enter(desktop.host, ALICE);
  device = await plugIn(desktop.host, alice, DEVICE, 20_000);
  model = await ScriptedModel.start();
  const root = await enter(desktop.host, ROOT);
  await model.serve(root, 1000);
  const { group } = await root.call("sys.group.create", { name: `g${WORD}`.slice(0, 32) });
  await root.call("sys.group.members", { gid: group.gid, members: ["alice", "bob"] });
  await root.call("sys.config.set", { key: "config/net/allowed_hosts", value: "127.0.0.1" });
  await alice.call("sys.device.update", { deviceId: DEVICE, description: WORD });
  await alice.call("sys.token.create", { kind: "user", label: WORD });
  root.close();
  page = await desktop.openAs(ALICE, "/", PHONE);
});

afterAll(async () => {
  device?.close();
  alice?.close();
  await model?.close();
  await desktop?.close();
  for (const peer of peers) await peer.close();
});

test("chat fits, with every kind of message, a question, queued messages, and its dialogs", async () => {
  const call = wants(["Shell", { target: DEVICE, input: COMMAND }]).say;
  const release = model.holds("be long", { say: [{ type: "thinking", text: WORD }, { type: "text", text: ANSWER }, ...call] }, says(WORD));
  model.on(/^queued/, { status: 400, body: { error: { message: `Refused: ${WORD}` } } });
  const { pid } = await alice.call("proc.spawn", { profile: "task", label: WORD });
  await alice.call("proc.conversation.open", { pid, conversationId: "default", title: WORD });
  await alice.call("proc.send", { pid, message: "be long" });
  for (const text of [WORD, COMMAND]) await alice.call("proc.send", { pid, message: `queued ${text}` });
  await show(`/chat/${pid}/default`);
  await page.getByRole("region", { name: "Queued messages" }).getByText("2 queued").waitFor();
  release();
  const question = page.getByRole("region", { name: /^Run a command/ });
  await readWhole(question);
  await question.getByRole("button", { name: "Always allow…" }).click();
  await unfold();
  await expectFits("a question");
  await messageList(page).evaluate((list) => list.scrollTo(0, 0));
  await messageList(page).locator(".md table").waitFor();
  const { pending } = await alice.call("proc.approval.list", { pid });
  await alice.call("proc.hil", { pid, requestId: pending[0]!.requestId, decision: "approve", remember: true });
  // Rows that are not near the window are not in the page.
  const ran = messageList(page).getByRole("button", { name: /^Ran echo/ });
  const scrollToCall = async () => {
    await messageList(page).evaluate((list) => list.scrollBy(0, 500));
    return ran.count();
  };
  await expect.poll(scrollToCall).toBe(1);
  await unfold();
  await messageList(page).getByRole("group", { name: "Output" }).waitFor();
  await expectFits("an answer with the result of its call");
  await messageList(page).evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await messageList(page).getByRole("article", { name: "A run ended with an error" }).last().waitFor();
  await page.locator("input[type=file]").setInputFiles({ name: `${WORD}.txt`, mimeType: "text/plain", buffer: Buffer.from("text") });
  await page.getByRole("list", { name: "Files to be sent along" }).getByText(".txt").waitFor();
  await unfold();
  await expectFits("when all of it has ended");
  await messageField(page).fill("");
  await page.getByRole("button", { name: /^Leave out/ }).click();

  const menu = page.getByRole("button", { name: "What to do with this conversation" });
  await menu.click();
  await page.getByRole("menuitem", { name: "Search" }).click();
  await page.getByRole("searchbox", { name: "Words" }).fill("unbroken");
  await page.locator(".search-match").first().waitFor();
  await expectFitsAndClose("search");
  await page.getByRole("button", { name: /context and cost/i }).click();
  await page.getByRole("dialog").getByRole("table").first().waitFor();
  await expectFitsAndClose("context and cost");
  await menu.click();
  await expectFits("the menu");
  await menu.click();
  for (const title of ["Compact older messages", "End the agent"]) {
    await menu.click();
    await page.getByRole("menuitem", { name: title, exact: true }).click();
    await expectFitsAndClose(title);
  }
});

test("every screen and each of its pages fits", async () => {
  for (const path of await screenPaths(page)) {
    await show(path);
    await expectFits(path);
  }
  const settings = ["ai", "permissions", "limits", "tokens", "account", "appearance", "gateway", "notifications"].map(
    (id) => `/settings/${id}`,
  );
  const machines = ["/machines/add", `/machines/add/${DEVICE}`, `/machines/device/${DEVICE}`];
  for (const path of ["/nowhere", "/chat?beside=/machines", "/approvals/allowed", "/approvals/history", ...machines, ...settings]) {
    await show(path);
    await expectFits(path);
  }
});

test("integrations fit, with long words in everything that servers, providers and skills say", async () => {
  await connectServers();
  const { skillId } = await fillAccountsAndSkills();
  await show("/integrations");
  for (const { name, serverId, state } of (await alice.call("sys.mcp.list", {})).servers) {
    await show(`/integrations/server/${serverId}`);
    await expectFits(`the server ${name.slice(0, 8)}, ${state}`);
  }
  await page.getByRole("button", { name: "Remove…" }).click();
  await expectFitsAndClose("remove");
  await show("/integrations/accounts");
  await page.getByText("Sign-in not finished").first().waitFor();
  await expectFits("accounts");
  await page.getByRole("button", { name: /^Forget/ }).click();
  await expectFitsAndClose("forget");
  await show("/integrations/skills");
  await page
    .getByText(`n-${WORD.slice(0, 20)}`)
    .first()
    .waitFor();
  await expectFits("skills");
  await show(`/integrations/skill/${skillId}`);
  await page.getByRole("group", { name: "The text of the skill" }).waitFor();
  await expectFits("a skill");
  await page.getByRole("button", { name: "Delete…" }).click();
  await expectFitsAndClose("delete");
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Text").fill(`${WORD}\n${COMMAND}`);
  await expectFits("a skill that is edited");
  await show("/integrations/new-skill");
  for (const label of ["Name", "When to use it", "What to do"]) await page.getByLabel(label, { exact: true }).fill(WORD);
  await expectFits("a new skill");
  await show("/integrations/add");
  await page.getByLabel("Address").fill(`${peers[0]!.origin}/${WORD}`);
  await page.getByLabel("Name", { exact: true }).fill(WORD.slice(0, 80));
  await page.getByRole("button", { name: "Add a header" }).click();
  await page.getByLabel("Name of header 1").fill(`X-${WORD}`.slice(0, 128));
  await page.getByLabel("Value of header 1").fill(WORD);
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByRole("alert").waitFor();
  await expectFits("a server that could not be added");
});

test("overlays fit", async () => {
  await show("/pieces");
  await page.getByRole("button", { name: "A bad notice" }).click();
  await page.getByRole("button", { name: "What to do with laptop" }).click();
  await expectFits("a menu and a notice");
  await page.keyboard.press("Escape");
  await openPalette(page);
  await expectFits("palette");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await expectFitsAndClose("keys");
  await show("/chat");
  await page.getByRole("button", { name: "New task" }).click();
  await page.getByRole("radio").first().waitFor();
  await expectFitsAndClose("new task");
  await show(`/machines/device/${DEVICE}`);
  await page.getByRole("button", { name: "Forget…" }).click();
  await expectFitsAndClose("forget");
  await show("/settings/permissions");
  await page.getByRole("button", { name: "Customize" }).click();
  await page.getByText("None of them is decided differently.").waitFor();
  await page.getByLabel("Other rules for one machine").selectOption(DEVICE);
  await page.getByText("Advanced: policy as JSON").click();
  await expectFits("a policy");
});

test("root's pages fit", async () => {
  const before = page;
  page = await desktop.openAs(ROOT, "/", PHONE);
  for (const path of ["/settings/ai", "/settings/gateway", "/settings/network", "/settings/people"]) {
    await show(path);
    await expectFits(path);
  }
  for (const name of ["Add a user", "Set password of bob", /^Members of g/]) {
    await page.getByRole("button", { name }).click();
    await expectFitsAndClose(String(name));
  }
  await page.context().close();
  page = before;
});

test("the button that copies a command or a token is inside the window", async () => {
  await show("/machines/add");
  await page.getByLabel("Name", { exact: true }).fill(DEVICE.replace("laptop", "tablet"));
  await page.keyboard.press("Enter");
  await expectCopyButton("Copy the command for a terminal");
  await page.getByRole("tab", { name: "Windows" }).click();
  await expectCopyButton("Copy the command for PowerShell");
  await show("/settings/tokens");
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill(WORD);
  await page.getByRole("dialog").getByRole("button", { name: "Create token" }).click();
  await expectCopyButton("Copy the token");
});

test("no page had unexpected errors", () => {
  expect(desktop.problems).toEqual([]);
});

/** One that is ready and has changed, one that has failed, and one that wants a sign-in. */
async function connectServers(): Promise<void> {
  const add = async (name: string, path = "") => {
    const schema = { type: "object", properties: { [WORD]: { type: "string", description: ANSWER } }, required: [WORD] };
    const tool = (sign: string) => ({ name: `${sign}${WORD}`, description: ANSWER, inputSchema: schema, outputSchema: schema });
    const peer = await startMcpServer({ tools: ["a", "b"].map(tool), instructions: ANSWER });
    peers.push(peer);
    const start = async () => {
      const transport = { headers: { [`X-${WORD}`.slice(0, 128)]: WORD } };
      return (await alice.call("sys.mcp.add", { name: `${name} ${WORD}`.slice(0, 80), url: `${peer.url}?${WORD}${path}`, transport }))
        .server.serverId;
    };
    return { peer, start };
  };
  const changed = await add("Changed");
  const serverId = await changed.start();
  const [first, second] = changed.peer.tools;
  changed.peer.tools = [first!, { ...second!, description: `${COMMAND} ${WORD}` }, { ...second!, name: `c${WORD}` }];
  const failed = await add("Failed");
  const failedId = await failed.start();
  failed.peer.routes.set("/mcp", async (request, response) => {
    const { id } = JSON.parse((await readBody(request)) || "{}") as { id?: number };
    sendJson(response, request.method === "POST" ? 200 : 405, { jsonrpc: "2.0", id, error: { code: -1, message: WORD } });
  });
  for (const one of [serverId, failedId]) await alice.call("sys.mcp.refresh", { serverId: one });
  const waiting = await add("Waiting");
  const { origin, url, routes } = waiting.peer;
  const host = `${"login".repeat(12)}.${"account".repeat(8)}.example`;
  const documents: Record<string, object> = {
    "/.well-known/oauth-protected-resource/mcp": { resource: url, authorization_servers: [origin] },
    "/.well-known/oauth-authorization-server": {
      issuer: origin,
      authorization_endpoint: `https://${host}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      // Else what is got at one host must not be sent to another.
      authorization_response_iss_parameter_supported: true,
    },
    "/register": { client_id: "client", redirect_uris: [] },
    "/token": { access_token: "token", token_type: "Bearer", scope: `${WORD} ${WORD}` },
  };
  for (const [path, document] of Object.entries(documents))
    routes.set(path, (_, response) => sendJson(response, path === "/register" ? 201 : 200, document));
  waiting.peer.authorize = () => ({
    status: 401,
    wwwAuthenticate: `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
  });
  await waiting.start();
}

/** An account, a sign-in in progress, and a skill. The last peer answers as a provider. */
async function fillAccountsAndSkills(): Promise<{ skillId: string }> {
  const { origin } = peers.at(-1)!;
  const start = async (accountKey: string) => {
    const { authorizationUrl } = await alice.call("sys.oauth.start", {
      kind: "generic",
      provider: WORD,
      accountKey,
      label: WORD,
      authorizationEndpoint: `${origin}/authorize`,
      tokenEndpoint: `${origin}/token`,
      clientId: "client",
      redirectUri: `${desktop.host.url}/oauth/callback`,
      resource: `https://${"resource".repeat(7)}.${"resource".repeat(7)}.example/`,
    });
    return new URL(authorizationUrl).searchParams.get("state")!;
  };
  await fetch(`${desktop.host.url}/oauth/callback?state=${await start("one")}&code=x`);
  await start("two");
  const content = `---\nname: n-${WORD}\ndescription: ${WORD}\n---\n\n${ANSWER}\n`;
  await alice.call("fs.write", { path: `~/skills.d/${WORD}.md`, content });
  const { skills } = await alice.call("ai.skills", {});
  return { skillId: encodeURIComponent(skills.find(({ name }) => name.startsWith("n-"))!.id) };
}

async function expectFits(what: string): Promise<void> {
  expect(await tooWide(page), what).toEqual([]);
}

/** Checks an open dialog and closes it. */
async function expectFitsAndClose(what: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await expect.poll(() => dialog.locator(".skeleton").count()).toBe(0);
  await expectFits(what);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
}

async function expectCopyButton(name: string): Promise<void> {
  const button = page.getByRole("button", { name });
  await button.waitFor();
  for (const width of WIDTHS) {
    await page.setViewportSize({ ...page.viewportSize()!, width });
    const { x, width: wide } = (await button.boundingBox())!;
    expect(wide, `${name} at ${width} px`).toBeGreaterThan(20);
    expect(x, `${name} at ${width} px`).toBeGreaterThanOrEqual(0);
    expect(x + wide, `${name} at ${width} px`).toBeLessThanOrEqual(width);
  }
  await expectFits(name);
}

/** Navigates within the open page, as a link does. */
async function show(path: string): Promise<void> {
  await page.evaluate((path) => {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await expect.poll(() => page.locator(".skeleton").count(), { interval: 20 }).toBeLessThanOrEqual(path === "/pieces" ? 1 : 0);
  await expect.poll(() => page.locator(".pane-body:empty").count(), { interval: 20 }).toBe(0);
  await unfold();
}

async function unfold(): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    for (const fold of document.querySelectorAll<HTMLElement>(".pane-body button[aria-expanded=false]:not([aria-haspopup])")) fold.click();
  });
}
