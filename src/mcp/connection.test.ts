import { expect, test } from "vitest";
import { type Bearer, McpConnection, type McpConnectionOptions, type McpError } from "./connection.ts";
import type { McpFetch } from "./fetch.ts";

type Message = { id?: number; method: string };
type Reply = { status?: number; result?: object; error?: { code: number; message: string } };

const NOBODY: Bearer = { token: async () => undefined, renew: () => Promise.reject(new Error("no sign-in")) };

function open(fetch: McpFetch, transport: McpConnectionOptions["transport"]): Promise<McpConnection> {
  const none = () => {};
  const options = { url: "https://mcp.example/mcp", transport, headers: {}, fetch, bearer: NOBODY, onToolsChanged: none, onClosed: none };
  return McpConnection.open(options, new AbortController().signal);
}

/** A server over streamable HTTP that has only requests. */
function serverOf(answer: (message: Message) => Reply, seen: string[] = []): McpFetch {
  return async (_, init) => {
    if (init?.method !== "POST") return new Response(null, { status: 405 });
    const message = JSON.parse(init.body as string) as Message;
    seen.push(message.method);
    if (message.id === undefined) return new Response(null, { status: 202 });
    const { status = 200, ...reply } = answer(message);
    return Response.json({ jsonrpc: "2.0", id: message.id, ...reply }, { status });
  };
}

const CACHE = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const TOOL = { name: "echo", inputSchema: { type: "object" } };

/** Of the newest protocol, which has no handshake. */
function answerWithoutHandshake(refusal: Reply) {
  return ({ method }: Message): Reply => {
    if (method === "server/discover")
      return {
        result: { ...CACHE, supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, serverInfo: { name: "new", version: "1" } },
      };
    return method === "tools/list" ? { result: { ...CACHE, tools: [TOOL] } } : refusal;
  };
}

test.each<[string, Reply]>([
  ["404", { status: 404, error: { code: -32601, message: "Method not found: initialize" } }],
  ["400", { status: 400, error: { code: -32602, message: "_meta is required" } }],
  ["200", { error: { code: -32601, message: "Method not found" } }],
])("a server of the newest protocol, which refuses the handshake with an error and HTTP %s, is connected", async (_, refusal) => {
  for (const transport of ["auto", "streamable-http"] as const) {
    const connection = await open(serverOf(answerWithoutHandshake(refusal)), transport);
    expect((await connection.listTools(new AbortController().signal)).tools.map(({ name }) => name)).toEqual(["echo"]);
    await connection.close();
  }
});

const never = new AbortController().signal;
const WITH_OUTPUT = { ...TOOL, outputSchema: { type: "object" } };

/** Of an older protocol, without sessions. */
function answerWithHandshake(answer: (message: Message) => Reply) {
  return (message: Message): Reply => {
    if (message.method !== "initialize") return answer(message);
    const capabilities = { tools: {}, resources: {}, prompts: {} };
    return { result: { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "old", version: "1" } } };
  };
}

function countOf(seen: readonly string[], method: string): number {
  return seen.filter((one) => one === method).length;
}

test("nothing is answered from a cache, however long the server says that it is fresh", async () => {
  const seen: string[] = [];
  const fresh = { ttlMs: 86_400_000, cacheScope: "public" };
  const answers: Record<string, object> = {
    "tools/list": { tools: [TOOL] },
    "resources/list": { resources: [] },
    "resources/templates/list": { resourceTemplates: [] },
    "prompts/list": { prompts: [] },
    "resources/read": { contents: [{ uri: "test://a", text: "a" }] },
  };
  const answer = answerWithHandshake(({ method }) => ({ result: { ...fresh, ...answers[method] } }));
  const connection = await open(serverOf(answer, seen), "streamable-http");
  for (let at = 0; at < 2; at++) {
    await connection.listTools(never);
    await connection.listResources(never);
    await connection.listResourceTemplates(never);
    await connection.listPrompts(never);
    await connection.readResource("test://a", never);
  }
  expect(Object.keys(answers).map((method) => [method, countOf(seen, method)])).toEqual(Object.keys(answers).map((method) => [method, 2]));
  await connection.close();
});

test("the result of a tool is passed on though it does not fit the output schema", async () => {
  const said = { content: [{ type: "text", text: "paid 5 EUR" }] };
  const answer = answerWithHandshake(({ method }) => ({ result: method === "tools/list" ? { tools: [WITH_OUTPUT] } : said }));
  const connection = await open(serverOf(answer), "streamable-http");
  const { tools } = await connection.listTools(never);
  expect(await connection.callTool(tools[0]!, {}, undefined, never)).toEqual(said);
  await connection.close();
});

test("a 404 of a server without sessions does not say that the call was not handled", async () => {
  const answer = answerWithHandshake(() => ({ status: 404, error: { code: -32000, message: "issue 7 not found" } }));
  const connection = await open(serverOf(answer), "streamable-http");
  const failure: unknown = await connection.callTool(TOOL, {}, undefined, never).catch((error: unknown) => error);
  expect(failure).toMatchObject({ kind: "refused", mayHaveRun: true } satisfies Partial<McpError>);
  await connection.close();
});

test("a server of the newest protocol that asks for input gets the call once", async () => {
  const seen: string[] = [];
  const result = { resultType: "input_required", requestState: "again" };
  const answer = answerWithoutHandshake({ status: 404, error: { code: -32601, message: "Method not found" } });
  const server = serverOf((message) => (message.method === "tools/call" ? { result } : answer(message)), seen);
  const connection = await open(server, "auto");
  const failure: unknown = await connection.callTool(TOOL, {}, undefined, never).catch((error: unknown) => error);
  expect(failure).toMatchObject({ kind: "refused", mayHaveRun: true } satisfies Partial<McpError>);
  expect(countOf(seen, "tools/call")).toBe(1);
  await connection.close();
});

test("a server of the newest protocol gets the arguments that it wants as headers", async () => {
  const inputSchema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
  const headers: (string | null)[] = [];
  const answer = answerWithoutHandshake({ status: 404, error: { code: -32601, message: "Method not found" } });
  const server = serverOf((message) => (message.method === "tools/call" ? { result: { ...CACHE, content: [] } } : answer(message)));
  const connection = await open((url, init) => {
    headers.push(new Headers(init?.headers).get("mcp-param-region"));
    return server(url, init);
  }, "auto");
  await connection.callTool({ name: "echo", inputSchema }, { region: "eu" }, undefined, never);
  expect(headers.at(-1)).toBe("eu");
  await connection.close();
});

test("a server that refuses every handshake is refused with what it said to the first", async () => {
  const seen: string[] = [];
  const server = serverOf(({ method }) => ({ error: { code: -32603, message: `no ${method} today` } }), seen);
  const refusal = await open(server, "auto").catch((error: unknown) => error);
  expect(refusal).toMatchObject({ kind: "refused", message: "the server refused it: no initialize today" } satisfies Partial<McpError>);
  expect(seen.slice(0, 2)).toEqual(["initialize", "server/discover"]);
});
