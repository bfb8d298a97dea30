// The content of messages, as the history has it. It comes over the wire and partly from models, so nothing about it is
// taken for granted.

import { type CallOutcome, parseOutcome } from "../state/conversation.ts";

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
  /** Without the time it waited for a person; null where it was not carried out, or nobody knows. */
  durationMs: number | null;
  output: string;
  media: Media[];
};

type Data = Record<string, unknown>;

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return isData(content) && typeof content.text === "string" ? content.text : "";
}

export function thoughtsOf(content: unknown): string[] {
  if (!isData(content)) return [];
  return list(content.thinking).flatMap((one) => (typeof one.thinking === "string" && one.thinking.trim() !== "" ? [one.thinking] : []));
}

/** Somebody stopped it before it was whole. */
export function isStopped(content: unknown): boolean {
  return isData(content) && content.stopped === true;
}

export function callsOf(content: unknown): ToolCall[] {
  return isData(content) ? list(content.toolCalls).map(callOf) : [];
}

export function callOf(one: Data): ToolCall {
  return {
    id: String(one.id),
    name: String(one.name),
    args: isData(one.arguments) ? one.arguments : null,
    raw: typeof one.raw === "string" ? one.raw : null,
  };
}

export function resultOf(content: unknown): ToolResult | null {
  if (!isData(content)) return null;
  return {
    toolCallId: String(content.toolCallId),
    toolName: String(content.toolName),
    isError: content.isError === true,
    outcome: parseOutcome(content.outcome),
    durationMs: typeof content.durationMs === "number" ? content.durationMs : null,
    output: typeof content.output === "string" ? content.output : JSON.stringify(content.output ?? ""),
    media: mediaOf(content),
  };
}

export function mediaOf(content: unknown): Media[] {
  if (!isData(content)) return [];
  return list(content.media).map((one) => ({
    type: text(one.type) ?? "image",
    mimeType: text(one.mimeType) ?? "",
    key: text(one.key),
    url: text(one.url),
    filename: text(one.filename),
    size: typeof one.size === "number" ? one.size : null,
  }));
}

/** What a call is about, in a line: its command, its path, what it looks for. */
export function subjectOf({ name, args, raw }: ToolCall): string {
  if (args === null) return raw?.slice(0, 200) ?? "";
  const { target: _, ...rest } = args;
  const [command, path, query] = [text(rest.input), text(rest.path), text(rest.query)];
  if (command !== null) return command;
  if (query !== null) return path === null ? query : `${query} in ${path}`;
  if (path !== null) return path;
  return Object.keys(rest).length === 0 ? name : JSON.stringify(rest);
}

export function targetOf({ args }: ToolCall): string {
  return text(args?.target) ?? "gsv";
}

/** Where all of an output is that was too long for the history. */
export function restPath(output: string): string | null {
  return /\n\[\.\.\. \d+ of \d+ characters left out; all of it is in (\/\S+) on gsv/.exec(output)?.[1] ?? null;
}

function list(value: unknown): Data[] {
  return Array.isArray(value) ? value.filter(isData) : [];
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function isData(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
