// mcp: the MCP servers of the caller, their tools, resources and prompts. What is shown of a change is exactly what accept accepts: it
// names the hashes of the definitions that it has printed.

import { concat, toLatin1 } from "../../lib/bytes.ts";
import { fromBase64 } from "../../lib/base64.ts";
import { declareFunctions } from "../../mcp/declarations.ts";
import type { McpServerSummary, McpToolChange, McpToolSummary } from "../../protocol/mcp-records.ts";
import { defineCommandFile, type CommandContext, CommandError, type Output } from "../command.ts";
import { makeLineReader } from "../input.ts";
import { readManual } from "../manual.ts";
import { endLine, formatResult, readArguments, readText, type ToolResult } from "../mcp-calls.ts";
import {
  adviseOwner,
  chooseServers,
  findServer,
  findTool,
  formatChange,
  formatDefinition,
  isWaitingForSignIn,
  listFunctions,
  listServers,
  listTools,
  type NamedTool,
  showInvisible,
  splitTool,
  summarize,
} from "../mcp-servers.ts";
import { type Options, parseOptions, parsePairs } from "../options.ts";
import { formatTabs, toJson, toLine } from "../table.ts";

type Parsed = { words: readonly string[]; options: Options; isJson: boolean };
type Subcommand = {
  /** Its words; the last ones may be missing. */
  usage: string;
  words: readonly [min: number, max: number];
  valued?: readonly string[];
  run(context: CommandContext, parsed: Parsed): Promise<Output | string>;
};

const LIST: Subcommand = { usage: "", words: [0, 0], run: list };

const SUBCOMMANDS: Record<string, Subcommand> = {
  list: LIST,
  status: LIST,
  tools: { usage: "[SERVER]", words: [0, 1], run: tools },
  describe: { usage: "SERVER [TOOL]", words: [1, 2], run: describe },
  search: { usage: "WORD...", words: [1, Infinity], run: search },
  codemode: { usage: "[SERVER]", words: [0, 1], run: declare },
  add: {
    usage: "NAME URL [options]",
    words: [2, 2],
    valued: ["transport", "callback-host", "header", "header-file", "client-id", "client-secret-file", "token-host"],
    run: add,
  },
  refresh: { usage: "SERVER", words: [1, 1], valued: ["callback-host"], run: refresh },
  remove: { usage: "SERVER", words: [1, 1], run: remove },
  call: { usage: "SERVER TOOL [options]", words: [1, 2], valued: ["arg", "args-json", "timeout"], run: call },
  changes: { usage: "[SERVER]", words: [0, 1], run: changes },
  accept: { usage: "SERVER [TOOL...]", words: [1, Infinity], run: accept },
  resources: { usage: "SERVER", words: [1, 1], run: listResources },
  read: { usage: "SERVER URI", words: [2, 2], run: readResource },
  prompts: { usage: "SERVER", words: [1, 1], run: listPrompts },
  prompt: { usage: "SERVER NAME [--arg key=value]...", words: [2, 2], valued: ["arg"], run: getPrompt },
};

const DOC = `Use MCP servers: their tools, resources and prompts.

A SERVER is its id, or a name that only one has. A TOOL is named as the server does, or by its function in scripts. --json prints JSON.

mcp list (or status, or nothing): your servers. AUTH is sign-in if one waits for you to sign in, error, or -.
mcp tools [SERVER]: the tools that can be called. mcp search WORD...: servers and tools that contain every word. mcp describe SERVER [TOOL]: all about one, with schemas.
mcp codemode [SERVER]: the functions of scripts (man codemode), as TypeScript declarations.

mcp call SERVER TOOL, or SERVER.TOOL: call a tool. --arg key=value, repeated, or --args-json JSON are its arguments; a value is text, or JSON where the tool's schema wants a number, boolean, array or object. It prints the text of the result, else its structured content, and ends with 1 if the tool reports an error. --timeout SECONDS is how long to wait; the command also ends with the shell's own limit (man shell).
mcp resources SERVER, mcp read SERVER URI: what the server offers to read. mcp prompts SERVER, mcp prompt SERVER NAME [--arg key=value]: its prompts.

mcp add NAME URL: connect a server, and accept its tools as they are now; what an agent adds, a person must accept. If it wants a sign-in, the address to open is printed. --transport auto|streamable-http|sse. --header key=value, repeated, or --header-file FILE with one key=value a line. --callback-host ORIGIN: the gateway's address to return to. --client-id ID and --client-secret-file FILE: a client that was registered with the provider. --token-host HOST: where the provider's tokens come from, if that is not the host of its sign-in page. FILE may be -, the standard input, so that no secret is in the command.
mcp refresh SERVER: connect again, read the tools, and make a new sign-in page if one is wanted. mcp remove SERVER.
mcp changes [SERVER]: tools that differ from what was accepted, with - and +, and new ones; they are not called. mcp accept SERVER [TOOL...]: show and accept them; without TOOL all. Agents cannot.

man integrations is the guide.`;

export default defineCommandFile({
  name: "mcp",
  usage:
    "list | tools | search | describe | codemode | call | resources | read | prompts | prompt | add | refresh | remove | changes | accept | help",
  doc: DOC,
  async run(context, [name = "list", ...args]): Promise<Output | string> {
    if (name === "help" || name === "--help") return readManual(context, "mcp");
    const sub = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name]! : failUsage(`unknown subcommand ${name}`);
    const { words, after, options } = parseOptions(args, { valued: sub.valued ?? [], flags: ["json"] });
    const all = [...words, ...(after ?? [])];
    const [min, max] = sub.words;
    if (all.length < min || all.length > max || all.includes("")) failUsage(`use mcp ${name} ${sub.usage}`.trimEnd());
    return sub.run(context, { words: all, options, isJson: options.has("json") });
  },
});

async function list({ link }: CommandContext, { isJson }: Parsed): Promise<Output> {
  const servers = await listServers(link);
  const output = showServers(servers, isJson);
  return servers.length > 0 || isJson ? output : { ...output, stderr: "mcp: no servers yet: mcp add NAME URL connects one\n" };
}

function showServers(servers: readonly McpServerSummary[], isJson: boolean): Output {
  if (isJson) return { stdout: toJson(servers) };
  const rows = servers.map((server) => {
    const auth = isWaitingForSignIn(server) ? "sign-in" : server.error === null ? "-" : "error";
    const { serverId, state, resourceCount, promptCount, name, url } = server;
    return [serverId, state, String(server.tools.length), String(resourceCount), String(promptCount), auth, name, url];
  });
  const heading = ["SERVER_ID", "STATE", "TOOLS", "RES", "PROMPTS", "AUTH", "NAME", "URL"];
  return { stdout: formatTabs([heading, ...rows]), stderr: adviseOwner(servers) };
}

async function tools({ link }: CommandContext, { words: [wanted], isJson }: Parsed): Promise<Output> {
  const servers = await listServers(link);
  const chosen = chooseServers(servers, wanted);
  const found = listTools(servers, chosen);
  if (isJson) return { stdout: toJson(found.map(toToolRecord)) };
  const rows = found.map(({ server, tool, functionNames }) => [
    server.serverId,
    server.name,
    server.state,
    tool.name,
    functionNames[0] ?? "",
    requiredOf(tool).join(","),
    summarize(tool.description),
  ]);
  const heading = ["SERVER_ID", "SERVER", "STATE", "TOOL", "CODEMODE", "REQUIRED", "DESCRIPTION"];
  return { stdout: formatTabs([heading, ...rows]), stderr: adviseOwner(chosen) };
}

function toToolRecord({ server, tool, functionNames }: NamedTool) {
  return { serverId: server.serverId, serverName: server.name, functionNames, ...tool };
}

function requiredOf({ inputSchema }: McpToolSummary): string[] {
  return Array.isArray(inputSchema?.required) ? inputSchema.required.map(String) : [];
}

async function describe(context: CommandContext, { words, isJson }: Parsed): Promise<Output> {
  const servers = await listServers(context.link);
  const [wanted = "", toolName] = words;
  const server = findServer(servers, wanted);
  if (toolName === undefined) return describeServer(server, isJson);
  const found = findTool(servers, server, toolName);
  if (isJson) return { stdout: toJson(toToolRecord(found)) };
  const { tool, functionNames } = found;
  const head = `${toLine(tool.name)} of ${server.name} (${server.serverId})\nin scripts: ${functionNames.join(", ")}\n`;
  return { stdout: `${head}\n${formatDefinition(tool)}` };
}

function describeServer(server: McpServerSummary, isJson: boolean): Output {
  if (isJson) return { stdout: toJson(server) };
  const { name, serverId, url, transport, state, headers, resourceCount, promptCount, instructions } = server;
  const facts = {
    url,
    transport,
    state,
    ...(headers.length === 0 ? {} : { headers: headers.join(", ") }),
    tools: server.tools.map((tool) => toLine(tool.name)).join(", ") || "none",
    resources: resourceCount,
    prompts: promptCount,
  };
  const lines = Object.entries(facts).map(([key, value]) => `${key}: ${value}\n`);
  const told = instructions === null ? "" : `\nIt says of itself:\n${showInvisible(instructions).trimEnd()}\n`;
  return { stdout: `${name} (${serverId})\n${lines.join("")}${told}`, stderr: adviseOwner([server]) };
}

async function search({ link }: CommandContext, { words, isJson }: Parsed): Promise<string> {
  const wanted = words.flatMap((word) => word.toLowerCase().split(/\s+/)).filter(Boolean);
  const isMatch = (...texts: (string | null)[]) => wanted.every((word) => texts.join("\n").toLowerCase().includes(word));
  const servers = await listServers(link);
  const found = [
    ...servers.filter(({ name, url, instructions }) => isMatch(name, url, instructions)).map((server) => ({ server, named: null })),
    ...listTools(servers)
      .filter(({ server, tool, functionNames }) => isMatch(server.name, tool.name, tool.description, ...functionNames))
      .map((named) => ({ server: named.server, named })),
  ];
  if (found.length === 0) throw new CommandError("no server or tool contains all of these words: try fewer, or mcp tools");
  const rows = found.map(({ server: { serverId, name, state, instructions, url }, named }) =>
    named === null
      ? ["server", serverId, name, state, name, "", summarize(instructions ?? url)]
      : ["tool", serverId, name, state, named.tool.name, named.functionNames[0] ?? "", summarize(named.tool.description)],
  );
  if (isJson)
    return toJson(
      rows.map(([kind, serverId, serverName, state, name, codemode, description]) => ({
        kind,
        serverId,
        serverName,
        state,
        name,
        functionName: codemode || null,
        description,
      })),
    );
  return formatTabs([["KIND", "SERVER_ID", "SERVER", "STATE", "NAME", "CODEMODE", "DESCRIPTION"], ...rows]);
}

async function declare({ link }: CommandContext, { words: [wanted], isJson }: Parsed): Promise<Output> {
  const servers = await listServers(link);
  const chosen = new Set(chooseServers(servers, wanted).map(({ serverId }) => serverId));
  const functions = listFunctions(servers).filter(({ serverId }) => chosen.has(serverId));
  if (isJson) return { stdout: toJson(functions) };
  return { stdout: declareFunctions(functions), stderr: functions.length === 0 ? "mcp: no tool can be called: mcp list says why\n" : "" };
}

async function add(context: CommandContext, { words: [name, url], options, isJson }: Parsed): Promise<Output> {
  const read = makeSecretReader(context, options);
  const headerFile = await read("header-file", "headers");
  const fromFile = headerFile?.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#")) ?? [];
  const headers = parsePairs("header", [...fromFile, ...options.list("header")]);
  const [type, callbackHost, clientId, tokenHost] = ["transport", "callback-host", "client-id", "token-host"].map((option) =>
    options.get(option),
  );
  const clientSecret = (await read("client-secret-file", "client secret"))?.trim();
  if (clientSecret !== undefined && clientId === undefined) failUsage("--client-secret-file needs --client-id");
  const oauth = {
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(tokenHost === undefined ? {} : { tokenHost }),
  };
  const { server } = await context.link.runSyscall<{ server: McpServerSummary }>("sys.mcp.add", {
    name,
    url,
    transport: { ...(type === undefined ? {} : { type }), ...(Object.keys(headers).length === 0 ? {} : { headers }) },
    ...(callbackHost === undefined ? {} : { callbackHost }),
    ...(clientId === undefined && tokenHost === undefined ? {} : { oauth }),
  });
  return isJson ? { stdout: toJson(server) } : showServers([server], false);
}

/** Reads the file that an option names; - is the standard input, or one line from the terminal. */
function makeSecretReader(context: CommandContext, options: Options) {
  if (["header-file", "client-secret-file"].every((name) => options.get(name) === "-")) failUsage("only one FILE can be -");
  return async (name: string, what: string): Promise<string | undefined> => {
    const path = options.get(name);
    if (path === undefined) return undefined;
    if (path === "-" && context.stdin === "") return makeLineReader(context)(what);
    return new TextDecoder().decode(await context.read(path === "-" ? "-" : context.resolve(path)));
  };
}

async function refresh({ link }: CommandContext, { words: [wanted = ""], options, isJson }: Parsed): Promise<Output> {
  const { serverId } = findServer(await listServers(link), wanted);
  const callbackHost = options.get("callback-host");
  const args = { serverId, ...(callbackHost === undefined ? {} : { callbackHost }) };
  const { server } = await link.runSyscall<{ server: McpServerSummary | null }>("sys.mcp.refresh", args);
  if (server === null) throw new CommandError(`${wanted} was removed meanwhile`);
  const output = isJson ? { stdout: toJson(server) } : showServers([server], false);
  return { ...output, exitCode: server.state === "failed" ? 1 : 0 };
}

async function remove({ link }: CommandContext, { words: [wanted = ""], isJson }: Parsed): Promise<string> {
  const { serverId, name } = findServer(await listServers(link), wanted);
  const answer = await link.runSyscall<{ removed: boolean }>("sys.mcp.remove", { serverId });
  if (!answer.removed) throw new CommandError(`${wanted} was removed meanwhile`);
  return isJson ? toJson(answer) : `removed ${name} (${serverId})\n`;
}

async function call({ link }: CommandContext, { words, options, isJson }: Parsed): Promise<Output> {
  const servers = await listServers(link);
  const { server, tool } = chooseTool(servers, words);
  const result = await link.runSyscall<ToolResult>("sys.mcp.call", {
    serverId: server.serverId,
    name: tool.name,
    arguments: readArguments(options, tool),
    ...readTimeout(options),
  });
  const exitCode = result.isError === true ? 1 : 0;
  return { ...(isJson ? { stdout: toJson(result) } : formatResult(result)), exitCode };
}

function chooseTool(servers: readonly McpServerSummary[], [first = "", toolName]: readonly string[]): NamedTool {
  if (toolName !== undefined) return findTool(servers, findServer(servers, first), toolName);
  const named = splitTool(servers, first);
  return findTool(servers, named.server, named.toolName);
}

function readTimeout(options: Options): { timeoutMs?: number } {
  const text = options.get("timeout");
  if (text === undefined) return {};
  const seconds = Number(text);
  if (text.trim() === "" || !(seconds > 0)) failUsage(`--timeout takes a number of seconds, not ${text}`);
  return { timeoutMs: Math.round(seconds * 1000) };
}

async function changes({ link }: CommandContext, { words: [wanted], isJson }: Parsed): Promise<Output> {
  const chosen = chooseServers(await listServers(link), wanted);
  const changed = chosen.filter((server) => server.changes.length > 0);
  if (isJson)
    return {
      stdout: toJson(
        changed.flatMap(({ serverId, name, changes: own }) => own.map((change) => ({ serverId, serverName: name, ...change }))),
      ),
    };
  if (changed.length === 0) return { stderr: "mcp: nothing has changed since it was accepted\n" };
  const hints = changed.map(({ serverId }) => `To accept what is shown: mcp accept ${serverId} [TOOL...]\n`);
  return {
    stdout: changed.flatMap((server) => server.changes.map((change) => formatChange(server, change))).join("\n"),
    stderr: hints.join(""),
  };
}

async function accept({ link }: CommandContext, { words: [wanted = "", ...names], isJson }: Parsed): Promise<Output> {
  const server = findServer(await listServers(link), wanted);
  const { serverId, name: serverName } = server;
  const unknown = names.find((name) => !server.changes.some((change) => change.name === name));
  if (unknown !== undefined) throw new CommandError(`${unknown} of ${serverName} has not changed: mcp changes ${serverId} lists what has`);
  const chosen = server.changes.filter(({ name }) => names.length === 0 || names.includes(name));
  if (chosen.length === 0) return { stderr: "mcp: nothing has changed since it was accepted\n" };
  const accepted = await link.runSyscall<{ server: McpServerSummary }>("sys.mcp.accept", { serverId, tools: chosen.map(toNamedHash) });
  if (isJson) return { stdout: toJson(accepted.server) };
  const shown = chosen.map((change) => formatChange(server, change)).join("\n");
  return { stdout: `${shown}\naccepted ${chosen.map(({ name }) => toLine(name)).join(", ")}\n` };
}

function toNamedHash({ name, hash }: McpToolChange): { name: string; hash: string } {
  return { name, hash };
}

type Resource = { name: string; description: string | null; mimeType: string | null };
type Resources = { resources: (Resource & { uri: string })[]; templates: (Resource & { uriTemplate: string })[] };

async function listResources({ link }: CommandContext, { words: [wanted = ""], isJson }: Parsed): Promise<string> {
  const { serverId } = findServer(await listServers(link), wanted);
  const found = await link.runSyscall<Resources>("sys.mcp.resource.list", { serverId });
  if (isJson) return toJson(found);
  const row = (kind: string, uri: string, { name, mimeType, description }: Resource) => [
    kind,
    uri,
    name,
    mimeType ?? "",
    summarize(description),
  ];
  const rows = [
    ...found.resources.map((one) => row("resource", one.uri, one)),
    ...found.templates.map((one) => row("template", one.uriTemplate, one)),
  ];
  return formatTabs([["KIND", "URI", "NAME", "TYPE", "DESCRIPTION"], ...rows]);
}

async function readResource({ link }: CommandContext, { words: [wanted = "", uri = ""], isJson }: Parsed): Promise<Output> {
  const { serverId } = findServer(await listServers(link), wanted);
  type Answer = { contents: { text?: string; blob?: string }[] };
  const answer = await link.runSyscall<Answer>("sys.mcp.resource.read", { serverId, uri });
  if (isJson) return { stdout: toJson(answer) };
  const { contents } = answer;
  if (contents.every(({ blob }) => blob === undefined)) return { stdout: endLine(contents.map(({ text = "" }) => text).join("\n")) };
  const bytes = contents.map(({ text = "", blob }) => (blob === undefined ? new TextEncoder().encode(text) : decodeBlob(blob)));
  return { stdout: toLatin1(concat(bytes)), stdoutKind: "bytes" };
}

function decodeBlob(blob: string): Uint8Array {
  try {
    return fromBase64(blob);
  } catch {
    throw new CommandError("the server sent content that is not base64");
  }
}

type Prompt = { name: string; description: string | null; arguments: { name: string; required: boolean }[] };

async function listPrompts({ link }: CommandContext, { words: [wanted = ""], isJson }: Parsed): Promise<string> {
  const { serverId } = findServer(await listServers(link), wanted);
  const { prompts } = await link.runSyscall<{ prompts: Prompt[] }>("sys.mcp.prompt.list", { serverId });
  if (isJson) return toJson(prompts);
  const rows = prompts.map(({ name, description, arguments: wantedArgs }) => [
    name,
    wantedArgs.map((one) => (one.required ? one.name : `[${one.name}]`)).join(" "),
    summarize(description),
  ]);
  return formatTabs([["NAME", "ARGUMENTS", "DESCRIPTION"], ...rows]);
}

async function getPrompt({ link }: CommandContext, { words: [wanted = "", name], options, isJson }: Parsed): Promise<string> {
  const { serverId } = findServer(await listServers(link), wanted);
  const args = parsePairs("arg", options.list("arg"));
  type Answer = { messages: { role: string; content: unknown }[] };
  const answer = await link.runSyscall<Answer>("sys.mcp.prompt.get", { serverId, name, arguments: args });
  if (isJson) return toJson(answer);
  return answer.messages
    .map(({ role, content }) => `${toLine(role)}: ${endLine(readText(content) ?? JSON.stringify(content, null, 2))}`)
    .join("\n");
}

function failUsage(message: string): never {
  throw new CommandError(message, 2);
}
