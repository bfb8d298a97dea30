// Messages of a conversation as text: who said what, and of tools only that they were used.

import type { Calls } from "../client/client.ts";

export type Message = Calls["proc.history"]["result"]["messages"][number];

/** What a person said or a model answered, null for everything else. */
export function wordsOf({ role, content }: Message): string | null {
  if (role !== "user" && role !== "assistant") return null;
  const text = typeof content === "string" ? content : textIn(content);
  return text.trim() === "" ? null : text.trim();
}

/** Of every message, for a list: who, and what. */
export function rowOf(message: Message): { who: string; text: string } {
  const { role, content } = message;
  if (role === "toolResult") {
    const { toolName = "tool", isError = false, output = "" } = content as { toolName?: string; isError?: boolean; output?: unknown };
    return { who: toolName, text: `${isError ? "failed: " : ""}${typeof output === "string" ? output : JSON.stringify(output)}` };
  }
  const words = typeof content === "string" ? content : textIn(content);
  const calls = callsIn(content).map(({ name, arguments: args }) => `[${name} ${JSON.stringify(args)}]`);
  return { who: role, text: [words, ...calls].filter((part) => part !== "").join("\n") };
}

/** The beginning of a text, in a few lines. */
export function briefly(text: string, lines = 3, chars = 400): string {
  const all = text.split("\n");
  const shown = all
    .slice(0, lines)
    .join("\n")
    .slice(0, chars)
    .replace(/[\uD800-\uDBFF]$/, "");
  return shown.length < text.length ? `${shown} ...` : shown;
}

function textIn(content: unknown): string {
  const { text } = (content ?? {}) as { text?: unknown };
  return typeof text === "string" ? text : "";
}

function callsIn(content: unknown): { name: string; arguments: unknown }[] {
  const { toolCalls } = (content ?? {}) as { toolCalls?: unknown };
  return Array.isArray(toolCalls) ? (toolCalls as { name: string; arguments: unknown }[]) : [];
}
