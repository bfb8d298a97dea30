// The functions that scripts call MCP tools by: each tool by its own name where no other has it, and always by the name of its server and
// its own. The latter come first, and each belongs to the server with the longest name that it begins with, ready or not: so no server
// takes one from another by what it calls its tools.

import type { ScriptFunction } from "../ports/sandbox.ts";
import type { McpToolSummary } from "../protocol/mcp-records.ts";

export type ServerTools = { serverId: string; name: string; tools: readonly McpToolSummary[] };

/** Names that scripts have already. */
const RESERVED = [
  ..."args argv clearTimeout codemode console fs mcpTools setTimeout shell".split(" "),
  ..."__defaultCwd __defaultTarget __isAbsolutePath __isObject __joinPath __mcp __unwrapMcpResult __userMain".split(" "),
  ..."__withFsDefaults __withObjectArgs __withShellDefaults".split(" "),
];

/** Words that cannot be names, and built-in values that a tool must not replace. */
const JAVASCRIPT: ReadonlySet<string> = new Set(
  `arguments async await break case catch class const continue debugger default delete do else enum eval export extends false finally for
   function get if implements import in instanceof interface let new null of package private protected public return set static super
   switch this throw true try typeof undefined var void while with yield
   AggregateError Array ArrayBuffer Atomics BigInt Boolean DataView Date Error EvalError Function Infinity Iterator JSON Map Math NaN
   Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol SyntaxError TypeError URIError
   WeakMap WeakRef WeakSet globalThis isFinite isNaN parseFloat parseInt decodeURI encodeURI escape unescape`
    .trim()
    .split(/\s+/),
);

type ServerName = { serverId: string; name: string };
type Aged = ServerName & { createdAt: number };

/** The order in which functions get their names: a server that is added later takes no name that an earlier one has. */
function sortByAge<T extends Aged>(servers: readonly T[]): T[] {
  return servers.toSorted((a, b) => a.createdAt - b.createdAt || (a.serverId < b.serverId ? -1 : 1));
}

type Server = ServerTools & Aged & { changes: readonly { accepted: McpToolSummary | null }[] };

/**
 * The functions of the servers that are ready, of `all` servers of their owner. A tool that waits for its owner keeps its function: a call
 * of it says why it waits.
 */
export function listFunctions(ready: readonly Server[], all: readonly Aged[]): ScriptFunction[] {
  const withWaiting = sortByAge(ready).map(({ serverId, name, tools, changes }) => ({
    serverId,
    name,
    tools: [...tools, ...changes.flatMap(({ accepted }) => accepted ?? [])],
  }));
  return nameFunctions(withWaiting, sortByAge(all));
}

/** Both in the order of `sortByAge`. */
export function nameFunctions(ready: readonly ServerTools[], all: readonly ServerName[] = ready): ScriptFunction[] {
  const tools = ready.flatMap(({ serverId, name, tools: own }) =>
    own.map((tool) => ({ serverId, serverName: name, toolName: tool.name, tool, base: sanitize(tool.name) })),
  );
  const prefixes = all.map(({ serverId, name }) => ({ serverId, prefix: clean(`${name}_`) }));
  const counts = new Map<string, number>();
  for (const { base } of tools) counts.set(base, (counts.get(base) ?? 0) + 1);
  const used = new Set(RESERVED);
  const define = (functionName: string, { serverId, serverName, toolName, tool }: (typeof tools)[number]): ScriptFunction => {
    used.add(functionName);
    const { description, inputSchema, outputSchema } = tool;
    return { functionName, serverId, serverName, toolName, description, inputSchema, outputSchema };
  };
  const qualified = tools.map((one) => define(pickQualifiedName(one, prefixes, used), one));
  const plain = tools.flatMap((one) => (counts.get(one.base) === 1 && !used.has(one.base) ? [define(one.base, one)] : []));
  // Short names first: what lists them or is cut off shows these.
  return [...plain, ...qualified];
}

type Named = { serverId: string; serverName: string; toolName: string };

type Prefix = { serverId: string; prefix: string };

function pickQualifiedName({ serverId, serverName, toolName }: Named, prefixes: readonly Prefix[], used: ReadonlySet<string>): string {
  const text = `${serverName}_${toolName}`;
  const name = sanitize(text);
  if (!used.has(name) && findOwner(clean(text), prefixes) === serverId) return name;
  const hashed = `${name}_${hashText(`${serverId}:${toolName}`)}`;
  let free = hashed;
  for (let count = 2; used.has(free); count++) free = `${hashed}_${count}`;
  return free;
}

/** The server with the longest name that this name begins with; of several, the oldest. */
function findOwner(name: string, prefixes: readonly Prefix[]): string | undefined {
  let owner: Prefix | undefined;
  for (const one of prefixes) if (name.startsWith(one.prefix) && one.prefix.length > (owner?.prefix.length ?? -1)) owner = one;
  return owner?.serverId;
}

function clean(text: string): string {
  return text.replaceAll(/[-.\s]/g, "_").replaceAll(/[^A-Za-z0-9_$]/g, "");
}

function sanitize(text: string): string {
  const name = clean(text);
  if (name === "" || name === "_") return "tool";
  if (/^\d/.test(name)) return `_${name}`;
  return JAVASCRIPT.has(name) ? `${name}_` : name;
}

/** FNV-1a in base 36: tells two tools apart, protects nothing. */
function hashText(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(36);
}
