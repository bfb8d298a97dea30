// A message as Markdown, for files that people keep. Pure.

import { nameOfTool } from "../../../src/client/client.ts";
import type { HistoryMessage } from "../state/history-window.ts";
import { formatExactly } from "../ui/format-time.ts";
import { callSubjectOf, callTargetOf, parseMedia, parseText, parseToolCalls, parseToolResult } from "./message-content.ts";

/** Empty for a message without anything to read. */
export function formatMessage({ role, content, timestamp }: HistoryMessage): string {
  const at = formatExactly(timestamp);
  const text = parseText(content);
  switch (role) {
    case "user":
      return section(`You, ${at}`, [text, ...parseMedia(content).map(({ filename, mimeType }) => `(${filename ?? mimeType})`)]);
    case "assistant": {
      const calls = parseToolCalls(content).map(
        (one) =>
          `**${nameOfTool(one.name)}**${callTargetOf(one) === "gsv" ? "" : ` on ${callTargetOf(one)}`}\n\n${fence(callSubjectOf(one))}`,
      );
      return section(`Agent, ${at}`, [text, ...calls]);
    }
    case "toolResult":
      return section("Output", [fence(parseToolResult(content)?.output ?? "")]);
    case "system":
      return section(`System, ${at}`, [text]);
  }
}

function section(title: string, parts: readonly string[]): string {
  const body = parts.filter((part) => part.trim() !== "").join("\n\n");
  return body === "" ? "" : `## ${title}\n\n${body}\n`;
}

/** Longer than any fence inside. */
function fence(text: string): string {
  if (text.trim() === "") return "";
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const marks = "`".repeat(longest + 1);
  return `${marks}\n${text}\n${marks}`;
}
