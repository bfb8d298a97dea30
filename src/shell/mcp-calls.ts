// Calls of MCP tools: their arguments from the options of a command, and their results as text.

import type { McpToolSummary } from "../protocol/mcp-records.ts";
import { CommandError, type Output } from "./command.ts";
import { type Options, parseJsonOption, parsePairs } from "./options.ts";
import { toJson, toLine } from "./table.ts";

export type ToolResult = { content?: unknown; structuredContent?: unknown; isError?: boolean };

/** From --arg and --args-json. */
export function readArguments(options: Options, { inputSchema }: McpToolSummary): Record<string, unknown> {
  const json = options.get("args-json");
  if (json === undefined) {
    const { properties } = { ...inputSchema };
    const pairs = Object.entries(parsePairs("arg", options.list("arg")));
    return Object.fromEntries(pairs.map(([name, text]) => [name, convertValue(text, isObject(properties) ? properties[name] : undefined)]));
  }
  if (options.has("arg")) failUsage("give --arg or --args-json, not both");
  const value = parseJsonOption("args-json", json);
  return isObject(value) ? value : failUsage("--args-json takes an object");
}

/** Text stays text, unless the schema wants something else that it is. */
function convertValue(text: string, schema: unknown): unknown {
  const type = isObject(schema) ? schema.type : undefined;
  if (typeof type !== "string" || type === "string") return text;
  try {
    const value: unknown = JSON.parse(text);
    const found = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
    return found === (type === "integer" ? "number" : type) ? value : text;
  } catch {
    return text;
  }
}

/** The text of the result, or else its structured content. */
export function formatResult({ content, structuredContent }: ToolResult): Output {
  const items: unknown[] = Array.isArray(content) ? content : [];
  const texts = items.flatMap((item) => readText(item) ?? []);
  const others = items.filter((item) => readText(item) === null).map((item) => (isObject(item) ? toLine(String(item.type)) : "unknown"));
  const hasStructure = structuredContent !== undefined && structuredContent !== null;
  const stdout = texts.length > 0 ? endLine(texts.join("\n")) : hasStructure ? toJson(structuredContent) : "";
  return { stdout, stderr: others.length === 0 ? "" : `mcp: not shown: ${others.join(", ")}; --json shows everything\n` };
}

export function readText(item: unknown): string | null {
  return isObject(item) && item.type === "text" && typeof item.text === "string" ? item.text : null;
}

export function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function failUsage(message: string): never {
  throw new CommandError(message, 2);
}
