// Which MCP server, tool and function the words of a command mean. The texts of servers are those of strangers: what is shown of them
// hides nothing and stays in its cell.

import { structuredPatch } from "diff";
import { listFunctions as listAllFunctions } from "../mcp/functions.ts";
import type { ScriptFunction } from "../ports/sandbox.ts";
import type { McpServerSummary, McpToolChange, McpToolSummary } from "../protocol/mcp-records.ts";
import { CommandError } from "./command.ts";
import type { KernelClient } from "./kernel-client.ts";
import { toLine } from "./table.ts";

export type NamedTool = { server: McpServerSummary; tool: McpToolSummary; functionNames: string[] };

export async function listServers(link: KernelClient): Promise<McpServerSummary[]> {
  return (await link.runSyscall<{ servers: McpServerSummary[] }>("sys.mcp.list")).servers;
}

/** By id, or else by a name that only one server has, in any case. */
export function findServer(servers: readonly McpServerSummary[], wanted: string): McpServerSummary {
  const byId = servers.find(({ serverId }) => serverId === wanted);
  if (byId !== undefined) return byId;
  const byName = servers.filter(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  if (byName.length > 1)
    throw new CommandError(`${wanted} is ambiguous: use server id ${byName.map(({ serverId }) => serverId).join(" or ")}`);
  return byName[0] ?? fail(`no MCP server ${wanted}: mcp list shows yours`);
}

/** All of them, or the one that is wanted. */
export function chooseServers(servers: readonly McpServerSummary[], wanted: string | undefined): readonly McpServerSummary[] {
  return wanted === undefined ? servers : [findServer(servers, wanted)];
}

/** The functions of scripts. Their names depend on all servers. */
export function listFunctions(servers: readonly McpServerSummary[]): ScriptFunction[] {
  return listAllFunctions(
    servers.filter(({ state }) => state === "ready"),
    servers,
  );
}

/** The tools of the chosen servers that can be called. */
export function listTools(servers: readonly McpServerSummary[], chosen: readonly McpServerSummary[] = servers): NamedTool[] {
  const names = Map.groupBy(listFunctions(servers), ({ serverId, toolName }) => JSON.stringify([serverId, toolName]));
  return chosen.flatMap((server) =>
    server.tools.map((tool) => {
      const functions = names.get(JSON.stringify([server.serverId, tool.name])) ?? [];
      return { server, tool, functionNames: functions.map(({ functionName }) => functionName) };
    }),
  );
}

/** By the name that the server gives it, or else by that of a function. */
export function findTool(servers: readonly McpServerSummary[], server: McpServerSummary, wanted: string): NamedTool {
  const tools = listTools(servers, [server]);
  const found = tools.find(({ tool }) => tool.name === wanted) ?? tools.find(({ functionNames }) => functionNames.includes(wanted));
  if (found !== undefined) return found;
  const { serverId, name, state, changes } = server;
  const change = changes.find((one) => one.name === wanted);
  if (change !== undefined) {
    const what = change.kind === "new" ? "is new and was not accepted yet" : "has changed since it was accepted";
    throw new CommandError(`${toLine(wanted)} of ${name} ${what}: mcp changes ${serverId} shows it`);
  }
  if (state !== "ready") throw new CommandError(`${name} is ${state}, so its tools are not known: mcp list says what to do`);
  throw new CommandError(`${name} has no tool ${wanted}: mcp tools ${serverId} lists them`);
}

/** `server.tool` in one word; both may contain dots. */
export function splitTool(servers: readonly McpServerSummary[], word: string): { server: McpServerSummary; toolName: string } {
  const problems: unknown[] = [];
  for (let at = word.indexOf("."); at > 0; at = word.indexOf(".", at + 1)) {
    try {
      return { server: findServer(servers, word.slice(0, at)), toolName: word.slice(at + 1) };
    } catch (error) {
      problems.push(error);
    }
  }
  throw problems[0] ?? new CommandError(`name a server and one of its tools: mcp tools lists them`, 2);
}

/** What the owner should know or do about servers, one thing a line. */
export function adviseOwner(servers: readonly McpServerSummary[]): string {
  const lines = servers.flatMap(({ serverId, name, state, authUrl, error, changes, leftOut }) => {
    const problem = error === null ? "" : ` (${toLine(error)})`;
    const signIn =
      authUrl === null
        ? `${name} wants a sign-in${problem}: mcp refresh ${serverId} makes a page for it`
        : `${name} wants a sign-in${problem}. Open this page in a browser; the server is ready by itself afterwards:\n${authUrl}`;
    const count = changes.length;
    return [
      ...(isWaitingForSignIn({ state, authUrl }) ? [signIn] : []),
      ...(state === "failed" ? [`${name} has failed${problem}: mcp refresh ${serverId} tries again`] : []),
      ...(count === 0
        ? []
        : [`${count} ${count === 1 ? "tool" : "tools"} of ${name} must be accepted before use: mcp changes ${serverId} shows why`]),
      ...(leftOut === 0
        ? []
        : [
            `${leftOut} more ${leftOut === 1 ? "tool" : "tools"} of ${name} cannot be used: there are too many, or their definitions are too large`,
          ]),
    ];
  });
  return lines.map((line) => `${line}\n`).join("");
}

export function isWaitingForSignIn({ state, authUrl }: Pick<McpServerSummary, "state" | "authUrl">): boolean {
  return state === "authenticating" || authUrl !== null;
}

const DIFF_EDITS_MAX = 400;

/** The definition before and now, as lines with - and +. */
export function formatChange({ name: serverName }: McpServerSummary, { name, kind, accepted, offered }: McpToolChange): string {
  const [before, now] = [accepted === null ? "" : formatDefinition(accepted), formatDefinition(offered)];
  const patch = structuredPatch("", "", before, now, "", "", { context: 3, maxEditLength: DIFF_EDITS_MAX });
  const mark = (text: string, sign: string) => (text === "" ? [] : text.trimEnd().split("\n")).map((line) => `${sign}${line}`);
  const lines = patch === undefined ? [...mark(before, "-"), ...mark(now, "+")] : patch.hunks.flatMap((hunk) => hunk.lines);
  return `${kind} ${toLine(name)} of ${serverName}\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

export function formatDefinition({ description, inputSchema, outputSchema }: McpToolSummary): string {
  const schema = (title: string, value: unknown) => `${title}: ${value === null ? "none" : JSON.stringify(value, null, 2)}\n`;
  return showInvisible(`${description === null ? "" : `${description}\n`}${schema("input", inputSchema)}${schema("output", outputSchema)}`);
}

const SUMMARY_CHARS_MAX = 200;

export function summarize(text: string | null): string {
  const line = toLine((text ?? "").slice(0, 4 * SUMMARY_CHARS_MAX));
  return line.length > SUMMARY_CHARS_MAX ? `${line.slice(0, SUMMARY_CHARS_MAX)}...` : line;
}

/** Characters that move the cursor, change the direction or have no glyph are shown by their code. */
export function showInvisible(text: string): string {
  return text.replaceAll(
    /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu,
    (char) => `<U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`,
  );
}

function fail(message: string): never {
  throw new CommandError(message);
}
