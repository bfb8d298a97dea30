// Payloads in everything that the Integrations pages show and that others write: MCP servers and what they say of themselves and of their
// tools, before and after a change; OAuth providers; and skills. Also what the command mcp prints of them.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Page } from "playwright-core";
import type { Client } from "../../../src/client/client.ts";
import type { Host } from "../../support/host.ts";
import { type LocalServer, readBody, sendJson, startLocalServer } from "../../support/mcp/server.ts";
import type { Bar } from "../bar.ts";
import type { Payload } from "./payloads.ts";
import { opened } from "./watch.ts";

/** The maximum lengths of the fields. */
const NAME_CHARS = 80;
const LINE_CHARS = 200;
const TOOL_NAME_CHARS = 250;
const INSTRUCTIONS_CHARS = 7_900;
const SKILL_LINE_CHARS = 200;
/** All definitions of a server together are limited. */
const SCHEMA_CHARS = 100;
const TOOL_CHARS = 400;
const DESCRIPTION_CHARS = 1_000;
/** The gateway keeps only so many for a user. */
const SERVERS = 48;
const FLOWS = 10;
/** Its tool has a schema with names that mean something in JavaScript. */
const POLLUTING = "m000x";
/** Of one server: there are as many new ones later. */
const TOOLS = 150;
const SKILLS = 30;
/** That a server asks for: as many as its page shows. */
const SCOPES = 20;
const SCOPE_CHARS = 150;

type Tool = { name: string; description: string; inputSchema: object; outputSchema: object };
/** What the peer answers on a path, such as /tools. */
type Behaviour = {
  tools?: Tool[];
  instructions?: string;
  error?: string;
  authorize?: string;
  challenge?: string;
  scopes?: string[];
  says?: string;
};
type Stage = { host: Host; page: Page; alice: Client; root: Client; bar: Bar };
type Check = (path: string, marks: readonly string[]) => Promise<void>;

/** `check` looks at the page that is open; a person decides by each of them. */
export async function showIntegrations(stage: Stage, payloads: readonly Payload[], check: Check): Promise<void> {
  // JSON between programs, and files, carry no halves of characters.
  const sound = payloads.filter(({ text }) => !/[\ud800-\udfff]/.test(text));
  const peer = await Peer.start();
  const key = "config/net/allowed_hosts";
  const allowed = (await stage.root.call("sys.config.get", { key })).entries[0]?.value ?? "";
  await stage.root.call("sys.config.set", { key, value: "127.0.0.1" });
  try {
    for (let at = 0; at < sound.length; at += TOOLS) await showTools(stage, peer, sound.slice(at, at + TOOLS), check);
    await showServers(stage, peer, sound, check);
    await showAccounts(stage, peer, sound, check);
    await showSkills(stage, sound, check);
  } finally {
    await peer.close();
    await stage.root.call("sys.config.set", { key, value: allowed });
  }
}

/** All payloads in the tools of one server, first as they are accepted, and then as they have changed. */
async function showTools(stage: Stage, peer: Peer, payloads: readonly Payload[], check: Check): Promise<void> {
  const { page, alice } = stage;
  const pages = Math.ceil(payloads.length / 25);
  const marksOf = (...signs: string[]) => payloads.flatMap(({ mark }) => signs.map((sign) => `${sign}${mark}`));
  peer.on("/tools", { tools: payloads.map((payload) => toTool(payload, "")) });
  const { serverId } = await add(alice, "tools", peer.url("/tools"));
  const path = `/integrations/server/${serverId}`;
  await page.goto(`${stage.host.url}${path}`);
  await page.getByLabel(/^Show all \d+ tools$/).check();
  await opened(page);
  await check(path, [...(payloads[0]?.mark === POLLUTING ? ["polluted-tool"] : []), ...marksOf("n-", "d-", "i-", "j-", "o-")]);
  await checkCommands(stage, [`mcp tools ${serverId}`, `mcp describe ${serverId}`, `mcp search m`, ...describeAll(serverId, payloads)]);
  peer.on("/tools", { tools: payloads.flatMap((payload) => [toTool(payload, "x"), toTool(payload, "y", "new-")]) });
  await alice.call("sys.mcp.refresh", { serverId });
  await page.reload();
  await opened(page);
  await check(path, marksOf("n-", "d-", "xd-", "xi-", "xj-", "xo-", "new-", "yd-", "yi-"));
  await checkCommands(stage, [`mcp changes ${serverId}`]);
  for (let at = 0; at < pages; at++) {
    const some = payloads.slice(at * 25, at * 25 + 25);
    const text = some.map((payload) => `s-${payload.text.slice(0, INSTRUCTIONS_CHARS / 25)}`).join("\n");
    peer.on(`/instructions${at}`, { instructions: text, says: some[0]!.text });
    const server = await add(alice, `instructions ${at}`, peer.url(`/instructions${at}`));
    const marks = some.map(({ mark }) => `s-${mark}`);
    await visit(stage, `/integrations/server/${server.serverId}`, marks, check);
  }
  await removeAll(alice);
}

/** Names, addresses, headers and errors of servers that have failed, and of those that send a person to a sign-in. */
async function showServers(stage: Stage, peer: Peer, payloads: readonly Payload[], check: Check): Promise<void> {
  const { alice } = stage;
  const shown: { path: string; mark: string }[] = [];
  const headers = { constructor: "x", toString: "x" };
  for (const [at, { mark, text }] of payloads.entries()) {
    // What is hidden or moves the cursor is rare among them.
    const isChosen = shown.length < SERVERS && (at % 4 === 1 || /[^\x20-\x7e]/.test(text));
    if (!isChosen) continue;
    const way = `/failing-${mark}`;
    peer.on(way, {});
    const url = `${peer.url(way)}?u-${text.slice(0, DESCRIPTION_CHARS)}`;
    const addNamed = (name: string) => alice.call("sys.mcp.add", { name, url, transport: { headers: { [`H-${mark}`]: "x", ...headers } } });
    const { server } = await addNamed(`n-${text.slice(0, NAME_CHARS - 2)}`).catch(() => addNamed(`n-${mark}`));
    shown.push({ path: `/integrations/server/${server.serverId}`, mark });
    peer.on(way, { error: `e-${text.slice(0, LINE_CHARS)}` });
    await alice.call("sys.mcp.refresh", { serverId: server.serverId });
  }
  const marksOf = (mark: string) => [`n-${mark}`, `u-${mark}`, `e-${mark}`];
  const all = shown.flatMap(({ mark }) => marksOf(mark));
  await visit(stage, "/integrations", all, check);
  for (const { path, mark } of shown.filter((_, at) => at % 9 === 0)) await visit(stage, path, [...marksOf(mark), `H-${mark}`], check);
  await checkCommands(stage, ["mcp list"]);
  await removeAll(alice);
  const waiting: { serverId: string; marks: string[] }[] = [];
  for (const [at, host] of HOSTS.entries()) {
    const chosen = payloads.slice(at * SCOPES, (at + 1) * SCOPES);
    peer.on(`/sign-in${at}`, {
      challenge: peer.url(`/document${at}`),
      authorize: `https://${host}/${payloads[at]!.text.slice(0, 100)}`,
      // A space would end a scope.
      scopes: chosen.map(({ text }) => `c-${text.slice(0, SCOPE_CHARS).replaceAll(" ", "_")}`),
    });
    const server = await add(alice, `sign in ${at}`, peer.url(`/sign-in${at}`)).catch(() => null);
    if (server !== null) waiting.push({ serverId: server.serverId, marks: chosen.map(({ mark }) => `c-${mark}`) });
  }
  stage.bar.check("servers that want a sign-in", waiting.length > HOSTS.length / 2, () => `only ${waiting.length}`);
  await visit(stage, "/integrations", [], check);
  for (const { serverId, marks } of waiting) await visit(stage, `/integrations/server/${serverId}`, ["Sign in at", ...marks], check);
  await checkCommands(stage, ["mcp list"]);
}

/** Accounts with payloads in provider, label, scope and key, and sign-ins in progress. */
async function showAccounts({ host, ...stage }: Stage, peer: Peer, payloads: readonly Payload[], check: Check): Promise<void> {
  const { alice } = stage;
  const start = async ({ mark, text }: Payload, sign: string) => {
    peer.scope = `s-${text.slice(0, DESCRIPTION_CHARS)}`;
    const { authorizationUrl } = await alice.call("sys.oauth.start", {
      kind: (["mcp-server", "generic", "ai-provider"] as const)[Number(mark.slice(1, 4)) % 3]!,
      provider: `p-${text.slice(0, LINE_CHARS - 2)}`,
      accountKey: `k-${text.slice(0, LINE_CHARS - 2)}`,
      label: `${sign}${text.slice(0, LINE_CHARS - 2)}`,
      authorizationEndpoint: `${peer.url("/authorize")}?${encodeURIComponent(text.slice(0, 100))}`,
      tokenEndpoint: peer.url("/token"),
      clientId: "client",
      redirectUri: `${host.url}/oauth/callback`,
      resource: `${peer.url("/tools")}?r-${mark}`,
    });
    return new URL(authorizationUrl).searchParams.get("state")!;
  };
  const finished: string[] = [];
  for (const payload of payloads) {
    const state = await start(payload, "l-").catch(() => null);
    if (state === null) continue;
    const answer = await fetch(`${host.url}/oauth/callback?state=${state}&code=x`);
    if (answer.ok) finished.push(payload.mark);
  }
  stage.bar.check("accounts", finished.length > payloads.length / 2, () => `only ${finished.length}`);
  const pending: string[] = [];
  for (const payload of payloads.slice(0, FLOWS)) if ((await start(payload, "f-").catch(() => null)) !== null) pending.push(payload.mark);
  const marks = [...finished.flatMap((mark) => [`l-${mark}`, `s-${mark}`]), ...pending.map((mark) => `f-${mark}`)];
  await visit({ host, ...stage }, "/integrations/accounts", marks, check);
  await checkCommands(stage, ["oauth list"]);
  await removeAll(alice);
}

/** Some payloads as names and descriptions, all of them in the text. */
async function showSkills(stage: Stage, payloads: readonly Payload[], check: Check): Promise<void> {
  const { alice } = stage;
  const size = Math.ceil(payloads.length / SKILLS);
  for (let at = 0; at < payloads.length; at += size) {
    const some = payloads.slice(at, at + size);
    const line = some[0]!.text.replaceAll(/[\r\n]/g, " ").slice(0, SKILL_LINE_CHARS);
    const text = some.map((payload) => `t-${payload.text.slice(0, DESCRIPTION_CHARS)}`).join("\n\n");
    const content = `---\nname: n-${line}\ndescription: d-${line}\n---\n\n${text}\n`;
    await alice.call("fs.write", { path: `~/skills.d/${some[0]!.mark}.md`, content });
  }
  const named = payloads.filter((_, at) => at % size === 0).flatMap(({ mark }) => [`n-${mark}`, `d-${mark}`]);
  await visit(stage, "/integrations/skills", named, check);
  const { skills } = await alice.call("ai.skills", {});
  for (const { id, path } of skills) {
    const at = payloads.findIndex(({ mark }) => path.endsWith(`/${mark}.md`));
    if (at === -1 || (at / size) % 3 !== 0) continue;
    const marks = payloads.slice(at, at + size).map(({ mark }) => `t-${mark}`);
    await visit(stage, `/integrations/skill/${addressOf(id)}`, marks, check);
  }
}

/** Encodes as the desktop does (frame/route.ts). */
function addressOf(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}

async function visit({ host, page }: Pick<Stage, "host" | "page">, path: string, marks: readonly string[], check: Check): Promise<void> {
  await page.goto(`${host.url}${path}`);
  await check(path, marks);
}

/** Commands that are run for their output: nothing in it moves the cursor, is hidden or changes the direction. */
/** What the commands print has nothing hidden in it. */
export async function checkCommands({ alice, bar }: Pick<Stage, "alice" | "bar">, commands: readonly string[]): Promise<void> {
  for (const input of commands) {
    const answer = await alice.call("shell.exec", { target: "gsv", input });
    const output = "output" in answer ? answer.output : "";
    const name = input.slice(0, 30);
    bar.check("commands", /\w{4}/.test(output), () => `${name} printed nothing: ${JSON.stringify(answer).slice(0, 200)}`);
    const hidden = [...output.matchAll(/(?![\t\n])[\p{Cc}\u200b-\u200f\u202a-\u202e\u2028\u2029\u2060-\u2069\ufeff]/gu)];
    const shown = hidden
      .slice(0, 5)
      .map(
        ({ 0: sign, index }) =>
          `U+${sign.codePointAt(0)!.toString(16)} near ${JSON.stringify(output.slice(Math.max(0, index - 20), index + 20))}`,
      );
    bar.check("commands without hidden signs", hidden.length === 0, () => `${name}: ${shown.join("; ")}`);
  }
}

/** Of some tools, because each is a command. Words of the shell have no NUL. */
function describeAll(serverId: string, payloads: readonly Payload[]): string[] {
  const some = payloads.filter(({ text }, at) => at % 12 === 0 && !text.includes("\0"));
  return some.map((payload) => `mcp describe ${serverId} '${toTool(payload, "").name.replaceAll("'", String.raw`'\''`)}'`);
}

function toTool({ mark, text }: Payload, sign: string, namePrefix = "n-"): Tool {
  const short = text.slice(0, SCHEMA_CHARS);
  const schema = (one: string) => ({
    type: "object",
    properties: { [`${sign}${one}${short}`]: { type: "string", description: `${sign}j-${short}` } },
    required: [`${sign}${one}${short}`],
  });
  // Parsed, because an object literal would set its prototype.
  const polluting = JSON.parse(
    `{"__proto__":{"polluted":true,"description":"polluted-tool"},"constructor":{"prototype":{"polluted":true}}}`,
  ) as object;
  const inputSchema = mark === POLLUTING ? { ...schema("i-"), $defs: { polluting: [polluting] }, title: "polluted-tool" } : schema("i-");
  const name = `${namePrefix}${text}`.slice(0, TOOL_NAME_CHARS);
  return { name, description: `${sign}d-${text.slice(0, TOOL_CHARS)}`, inputSchema, outputSchema: schema("o-") };
}

async function add(alice: Client, name: string, url: string) {
  return (await alice.call("sys.mcp.add", { name, url })).server;
}

async function removeAll(alice: Client): Promise<void> {
  const { servers } = await alice.call("sys.mcp.list", {});
  await Promise.all(servers.map(({ serverId }) => alice.call("sys.mcp.remove", { serverId })));
}

/** Hosts that look like another one, or like more than a host. */
const HOSTS = [
  "xn--pple-43d.com",
  "\u0430pple.com",
  "login.example.com.evil.example",
  "login.example%2ecom",
  `${"a".repeat(60)}.${"b".repeat(60)}.example`,
  "example.com:8443",
  "\u202emoc.elpmaxe",
  "login\u200b.example.com",
  "\uff4cogin.example",
  "[::ffff:1.2.3.4]",
];

/** An MCP server and an OAuth provider that say what a test wants, by path. */
class Peer {
  scope = "";
  readonly #server: LocalServer;
  readonly #ways = new Map<string, Behaviour>();

  private constructor(server: LocalServer) {
    this.#server = server;
  }

  static async start(): Promise<Peer> {
    let peer: Peer | undefined;
    const server = await startLocalServer((request, response) => peer?.answer(request, response));
    peer = new Peer(server);
    return peer;
  }

  on(way: string, behaviour: Behaviour): void {
    this.#ways.set(way, behaviour);
  }

  url(path: string): string {
    return `${this.#server.origin}${path}`;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", this.#server.origin);
    const body = await readBody(request);
    const [, at = ""] = /(\d+)/.exec(pathname) ?? [];
    if (pathname === "/token") return sendJson(response, 200, { access_token: "token", token_type: "Bearer", scope: this.scope });
    if (pathname.startsWith("/register")) return sendJson(response, 201, { client_id: "client", redirect_uris: [] });
    if (pathname.startsWith("/document"))
      return sendJson(response, 200, {
        resource: this.url(`/sign-in${at}`),
        authorization_servers: [this.url(`/provider${at}`)],
        scopes_supported: this.#ways.get(`/sign-in${at}`)?.scopes,
      });
    if (pathname.startsWith("/.well-known/") && pathname.includes("/provider")) return sendJson(response, 200, this.#metadata(at));
    const way = this.#ways.get(pathname);
    if (way === undefined || request.method !== "POST") return sendJson(response, way === undefined ? 404 : 405, {});
    if (way.challenge !== undefined)
      return sendJson(response, 401, {}, { "www-authenticate": `Bearer resource_metadata="${way.challenge}"` });
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    const error = way.error === undefined ? undefined : { code: -32_000, message: way.error };
    sendJson(response, 200, { jsonrpc: "2.0", id, ...(error === undefined ? { result: resultOf(way, method) } : { error }) });
  }

  #metadata(at: string): object {
    return {
      issuer: this.url(`/provider${at}`),
      authorization_endpoint: this.#ways.get(`/sign-in${at}`)?.authorize,
      token_endpoint: this.url("/token"),
      registration_endpoint: this.url("/register"),
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      // Else what is got at one host must not be sent to another.
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ["none"],
    };
  }
}

function resultOf({ tools = [], instructions, says = "peer" }: Behaviour, method: string): object {
  if (method !== "initialize") return { tools };
  return {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {}, experimental: { [says]: {} } },
    serverInfo: { name: says, version: says },
    ...(instructions === undefined ? {} : { instructions }),
  };
}
