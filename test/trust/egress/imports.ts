// Which files in src can open a connection, found by searching the sources: the two net.ts, and the files listed here with the
// reason. The rule is on text and not on types: it catches mistakes, and names the file.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");

/** Servers and clients of the gateway itself. Each may use what is listed and nothing else. */
const KNOWN: Record<string, readonly string[]> = {
  "src/hosts/node/net.ts": ["node:dns/promises", "node:http", "node:net", "node:tls"],
  "src/hosts/node/kept-connections.ts": ["node:http", "node:net"],
  "src/hosts/cloudflare/net.ts": ["fetch("],
  // The gateway's own server.
  "src/hosts/node/http.ts": ["node:http", "node:https", "node:net"],
  "src/hosts/node/sockets.ts": ["node:http", "ws"],
  // The CLI and the client, on the user's side of the gateway.
  "src/cli/session/health.ts": ["node:http", "node:https"],
  "src/cli/session/socket.ts": ["ws"],
  "src/client/connection.ts": ["WebSocket"],
};

const MODULES =
  /(?:from|import|require|getBuiltinModule)\s*\(?\s*(?:[^"'\n;]*\?\s*)?["']((?:node:)?(?:https?|http2|net|tls|dgram|dns)(?:\/promises)?|cloudflare:sockets|isomorphic-git\/http\/[^"']*|undici|ws|axios|got|node-fetch|simple-get)["']/g;
/** A second module in one expression: require(secure ? "node:https" : "node:http"). */
const STRINGS = /["'](node:(?:https?|http2|net|tls|dgram|dns)(?:\/promises)?)["']/g;
/** Not a method of another object, and not a declaration, whose parenthesis is followed by a name with a type. */
const FETCHES = /(?<![.#\w])fetch\((?!\s*(?:\)|\w+\??:))|globalThis\.fetch|self\.fetch|(?:=|\?\?|\()\s*fetch\b(?!\()/g;
const SOCKETS = /new (?:globalThis\.)?(?:WebSocket|EventSource|XMLHttpRequest)\b/g;

/**
 * What each file may take from the client library of MCP, which has a way out of its own wherever it is not given another: of these, the two
 * transports, `discoverOAuthServerInfo` and `registerClient` open connections, and egress/mcp.ts shows that they do it with what they are given.
 */
const MCP_CLIENT = /["']@modelcontextprotocol\/[^"'\s]*["']/g;
const MCP_NAMES: Record<string, readonly string[]> = {
  "src/mcp/authorization.ts": [
    "OAuthServerInfo",
    "checkResourceAllowed",
    "discoverOAuthServerInfo",
    "registerClient",
    "selectClientAuthMethod",
  ],
  "src/mcp/connection.ts": [
    "Client",
    "InsufficientScopeError",
    "ProtocolError",
    "SdkError",
    "SdkErrorCode",
    "SdkHttpError",
    "UnauthorizedError",
    "extractWWWAuthenticateParams",
  ],
  "src/mcp/transports.ts": [
    "JSONRPCMessage",
    "SSEClientTransport",
    "SSEClientTransportOptions",
    "StreamableHTTPClientTransport",
    "StreamableHTTPClientTransportOptions",
    "isJSONRPCErrorResponse",
    "isJSONRPCNotification",
    "isJSONRPCRequest",
    "isJSONRPCResultResponse",
  ],
};

/** One line for each file that uses a connection without being listed, and for each listed file that no longer exists. */
export function strayConnections(): { files: number; strays: string[] } {
  const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .map((name) => `src/${name}`)
    .filter((name) => /\.m?[jt]sx?$/.test(name) && !/\.test\.ts$|\.d\.ts$/.test(name));
  const strays: string[] = [];
  for (const file of files) {
    const source = readFileSync(join(ROOT, file), "utf8");
    for (const way of waysOut(source)) if (!KNOWN[file]?.includes(way)) strays.push(`${file} uses ${way}: only the Net port may`);
    for (const name of namesOfMcpClient(source))
      if (!MCP_NAMES[file]?.includes(name)) strays.push(`${file} takes ${name} from the client of MCP: does it open a connection?`);
  }
  for (const file of [...Object.keys(KNOWN), ...Object.keys(MCP_NAMES)])
    if (!files.includes(file)) strays.push(`${file} is gone: take it off the list`);
  return { files: files.length, strays };
}

export function waysOut(source: string): Set<string> {
  const text = withoutComments(source);
  const ways = new Set<string>();
  for (const [, name] of [...text.matchAll(MODULES), ...text.matchAll(STRINGS)])
    ways.add(/^[a-z0-9]+$/.test(name!) && NODE.has(name!) ? `node:${name}` : name!);
  if (FETCHES.test(text)) ways.add("fetch(");
  if (SOCKETS.test(text)) ways.add("WebSocket");
  FETCHES.lastIndex = SOCKETS.lastIndex = 0;
  return ways;
}

/** The names that a source takes from the package; "*" for any other way to load it. */
export function namesOfMcpClient(source: string): string[] {
  const text = withoutComments(source);
  const count = [...text.matchAll(MCP_CLIENT)].length;
  const imports = [...text.matchAll(/import\s*(?:type\s*)?\{([^}]*)\}\s*from\s*["']@modelcontextprotocol\/client["']/g)];
  const names = imports.flatMap(([, list = ""]) => list.split(",")).map((one) => one.trim().replace(/^type\s+/, ""));
  const taken = names.map((one) => one.split(/\s+as\s+/)[0]!).filter((name) => name !== "");
  return count === imports.length ? taken : [...taken, "*"];
}

const NODE = new Set(["http", "https", "http2", "net", "tls", "dgram", "dns"]);

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}
