// Parses the content of messages from the history. It comes over the wire and partly from models, so every part is checked.

import { isMcpTool, isScriptTool, type ScriptCall, type ScriptCalls, scriptPurpose } from "../../../src/client/client.ts";
import type { CallOutcome } from "../state/conversation.ts";

export type Media = {
  type: string;
  mimeType: string;
  key: string | null;
  url: string | null;
  filename: string | null;
  size: number | null;
};
export type ToolCall = { id: string; name: string; args: Record<string, unknown> | null; raw: string | null };
export type ToolResult = {
  toolCallId: string;
  toolName: string;
  isError: boolean;
  outcome: CallOutcome | null;
  /** Without the wait for approval; null if the call did not run or the duration is unknown. */
  durationMs: number | null;
  output: string;
  media: Media[];
  /** The calls that a script made. */
  made: ScriptCalls | null;
};

type JsonObject = Record<string, unknown>;

export function parseText(content: unknown): string {
  if (typeof content === "string") return content;
  return isRecord(content) && typeof content.text === "string" ? content.text : "";
}

export function parseReasoning(content: unknown): string[] {
  if (!isRecord(content)) return [];
  return recordsIn(content.thinking).flatMap((one) =>
    typeof one.thinking === "string" && one.thinking.trim() !== "" ? [one.thinking] : [],
  );
}

/** The user stopped the answer before it was complete. */
export function isStopped(content: unknown): boolean {
  return isRecord(content) && content.stopped === true;
}

export function parseToolCalls(content: unknown): ToolCall[] {
  return isRecord(content) ? recordsIn(content.toolCalls).map(parseToolCall) : [];
}

export function parseToolCall(one: JsonObject): ToolCall {
  return {
    id: String(one.id),
    name: String(one.name),
    args: isRecord(one.arguments) ? one.arguments : null,
    raw: typeof one.raw === "string" ? one.raw : null,
  };
}

export function parseToolResult(content: unknown): ToolResult | null {
  if (!isRecord(content)) return null;
  return {
    toolCallId: String(content.toolCallId),
    toolName: String(content.toolName),
    isError: content.isError === true,
    outcome: parseCallOutcome(content.outcome),
    durationMs: typeof content.durationMs === "number" ? content.durationMs : null,
    output: typeof content.output === "string" ? content.output : JSON.stringify(content.output ?? ""),
    media: parseMedia(content),
    made: parseMadeCalls(content.scriptCalls),
  };
}

function parseMadeCalls(list: unknown): ScriptCalls | null {
  if (!isRecord(list)) return null;
  const calls = recordsIn(list.calls).map((one): ScriptCall => {
    const end = { ok: one.ok === true, text: nonEmptyString(one.error) ?? "", outcome: parseCallOutcome(one.outcome), at: 0 };
    const durationMs = typeof one.durationMs === "number" ? one.durationMs : 0;
    const args = isRecord(one.args) ? one.args : {};
    const of = { callId: String(one.callId), runId: "", name: String(one.name), syscall: null };
    return { ...of, args, startedAt: 0, isAsked: false, end: { ...end, durationMs } };
  });
  return { runId: "", hasStart: true, count: typeof list.count === "number" ? list.count : calls.length, calls };
}

export function parseMedia(content: unknown): Media[] {
  if (!isRecord(content)) return [];
  return recordsIn(content.media).map((one) => ({
    type: nonEmptyString(one.type) ?? "image",
    mimeType: nonEmptyString(one.mimeType) ?? "",
    key: nonEmptyString(one.key),
    url: nonEmptyString(one.url),
    filename: nonEmptyString(one.filename),
    size: typeof one.size === "number" ? one.size : null,
  }));
}

/** The source of a script, as far as it has arrived; null if the call runs none. */
export function parseScript({ name, args, raw }: ToolCall): string | null {
  if (!isScriptTool(name)) return null;
  if (args !== null) return typeof args.code === "string" ? args.code : null;
  const [, code] = /^\s*\{\s*"code"\s*:\s*"((?:[^"\\]|\\u[\da-fA-F]{4}|\\[^u])*)/.exec(raw ?? "") ?? [];
  if (code === undefined) return null;
  try {
    return JSON.parse(`"${code}"`) as string;
  } catch {
    return code;
  }
}

/** The subject of a call: its command, path or query, or what a script is for. */
export function callSubjectOf(call: ToolCall): string {
  const { name, args, raw } = call;
  if (isScriptTool(name)) return scriptPurpose(parseScript(call) ?? "");
  if (isMcpTool(name) && args !== null) return `${nonEmptyString(args.name) ?? ""} ${JSON.stringify(args.arguments ?? {})}`;
  if (args === null) return raw?.slice(0, 200) ?? "";
  const { target: _, ...rest } = args;
  const [command, path, query] = [nonEmptyString(rest.input), nonEmptyString(rest.path), nonEmptyString(rest.query)];
  if (command !== null) return command;
  if (query !== null) return path === null ? query : `${query} in ${path}`;
  if (path !== null) return path;
  return Object.keys(rest).length === 0 ? name : JSON.stringify(rest);
}

export function callTargetOf({ args }: ToolCall): string {
  return nonEmptyString(args?.target) ?? "gsv";
}

function parseCallOutcome(outcome: unknown): CallOutcome | null {
  return outcome === "denied" || outcome === "stopped" ? outcome : null;
}

/** The file with the whole output, if it was too long for the history. */
export function wholeOutputPath(output: string): string | null {
  return /\n\[\.\.\. \d+ of \d+ characters left out; all of it is in (\/\S+) on gsv/.exec(output)?.[1] ?? null;
}

function recordsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function nonEmptyString(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
