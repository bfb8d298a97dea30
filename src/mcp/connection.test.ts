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

test("a server that refuses every handshake is refused with what it said to the first", async () => {
  const seen: string[] = [];
  const server = serverOf(({ method }) => ({ error: { code: -32603, message: `no ${method} today` } }), seen);
  const refusal = await open(server, "auto").catch((error: unknown) => error);
  expect(refusal).toMatchObject({ kind: "refused", message: "the server refused it: no initialize today" } satisfies Partial<McpError>);
  expect(seen.slice(0, 2)).toEqual(["initialize", "server/discover"]);
});
