// The messages of a conversation as text.

import type { Calls } from "../../client/client.ts";

type ToolResult = { toolName?: string; isError?: boolean; outcome?: string; output?: unknown };
/** Appended to an answer that was stopped. */
const STOPPED = " [stopped]";

export type Message = Calls["proc.history"]["result"]["messages"][number];

/** The text of a person or a model; null for every other message, or an empty one. */
export function spokenText({ role, content }: Message): string | null {
  if (role !== "user" && role !== "assistant") return null;
  const text = textIn(content);
  return text.trim() === "" ? null : `${text.trim()}${isStopped(content) ? STOPPED : ""}`;
}

/** Author and text of any message, for a list. */
export function authorAndText(message: Message): { who: string; text: string } {
  const { role, content } = message;
  if (role === "toolResult") {
    const { toolName = "tool", isError = false, outcome, output = "" } = content as ToolResult;
    const how = outcome ?? (isError ? "failed" : null);
    return { who: toolName, text: `${how === null ? "" : `${how}: `}${typeof output === "string" ? output : JSON.stringify(output)}` };
  }
  const words = textIn(content);
  const calls = callsIn(content).map(({ name, arguments: args }) => `[${name} ${JSON.stringify(args)}]`);
  return { who: role, text: [words, ...calls].filter((part) => part !== "").join("\n") + (isStopped(content) ? STOPPED : "") };
}

export type Stop = Pick<Calls["proc.abort"]["result"], "stillRunning" | "pausedCount">;
/** `how`: the command that resumes the queue from here. */
type StopReport = { stillRunning: Stop["stillRunning"] | undefined; pausedCount: number | undefined; how: string };

/** What to tell the person who stopped a run; empty if nothing still runs and no message is on hold. */
export function describeStop({ stillRunning = [], pausedCount = 0, how }: StopReport): string {
  const running = stillRunning.map(({ command, target, why }) => `This may still run: ${truncate(command, 1, 80)} on ${target}. ${why}`);
  const messages = pausedCount === 1 ? "1 message is" : `${pausedCount} messages are`;
  return [...running, ...(pausedCount === 0 ? [] : [`${messages} on hold; to resume: ${how}`])].join("\n");
}

/** The first lines of a text. */
export function truncate(text: string, lines = 3, chars = 400): string {
  const all = text.split("\n");
  const shown = all
    .slice(0, lines)
    .join("\n")
    .slice(0, chars)
    .replace(/[\uD800-\uDBFF]$/, "");
  return shown.length < text.length ? `${shown} ...` : shown;
}

function isStopped(content: unknown): boolean {
  return ((content ?? {}) as { stopped?: unknown }).stopped === true;
}

/** The text of a message's content. */
export function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  const { text } = (content ?? {}) as { text?: unknown };
  return typeof text === "string" ? text : "";
}

function callsIn(content: unknown): { name: string; arguments: unknown }[] {
  const { toolCalls } = (content ?? {}) as { toolCalls?: unknown };
  return Array.isArray(toolCalls) ? (toolCalls as { name: string; arguments: unknown }[]) : [];
}
