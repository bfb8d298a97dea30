// How an agent's text is shown: unchanged in a pipe, escaped on a terminal, and styled where colours are available. Each style
// has its own reset code, so that a nested style does not end the outer one.

import { hasColours } from "./terminal.ts";

export type OutputMode = "raw" | "plain" | "styled";

export type Style = "bold" | "dim" | "italic" | "underline" | "strike" | "red" | "green" | "yellow" | "cyan";

const CODES: Record<Style, readonly [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  strike: [9, 29],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

export function stdoutMode(): OutputMode {
  if (!process.stdout.isTTY) return "raw";
  return hasColours() ? "styled" : "plain";
}

export function applyStyle(text: string, style: Style): string {
  const [on, off] = CODES[style];
  return text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`;
}
