// What a message of an MCP server may be. It is checked as text, because parsing happens in the kernel's thread: its size, its depth, the
// number of its values, and the length of lists whose every entry the client compares with a schema.

import { NetError } from "../ports/net.ts";
import { findFrameProblem } from "../protocol/scan.ts";

export const MESSAGE_BYTES = 4 * 1024 * 1024;

const LISTS = ["content", "tools", "resources", "resourceTemplates", "prompts", "messages", "contents"];
const ENTRIES_MAX = 1_000;
const BATCH_MAX = 100;
/** Shorter messages have no long lists. */
const SHORT_CHARS = 8 * 1024;

/** The client gets exactly this text. */
export function checkMessage(text: string): void {
  if (text.length > MESSAGE_BYTES) throw tooLargeError(MESSAGE_BYTES);
  if (findFrameProblem(text) !== null || hasLongList(text))
    throw new NetError("too_large", "A message is nested too deeply or has too many values");
}

export function tooLargeError(bytesMax: number): NetError {
  return new NetError("too_large", `A message is larger than ${bytesMax / 1024} KiB`);
}

function hasLongList(text: string): boolean {
  if (text.length < SHORT_CHARS) return false;
  const message = parseJson(text);
  const messages: unknown[] = Array.isArray(message) ? message : [message];
  return messages.length > BATCH_MAX || messages.some((one) => LISTS.some((list) => countOf(one, list) > ENTRIES_MAX));
}

function countOf(message: unknown, list: string): number {
  const { result } = Object(message) as { result?: unknown };
  const entries = (Object(result) as Record<string, unknown>)[list];
  return Array.isArray(entries) ? entries.length : 0;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
