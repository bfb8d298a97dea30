// The line that is being typed as words, and candidates as lines. Names come from a gateway, where agents choose some of them: only
// those that no shell could mistake for anything but a word are offered.

import { escapeControls } from "../terminal/terminal.ts";
import type { Candidate } from "./complete.ts";

const SAFE = /^[\p{L}\p{N}_.:@/+-]{1,200}$/u;
const ABOUT_CHARS = 80;

export function isSafeWord(word: string): boolean {
  return SAFE.test(word) && !word.startsWith("-");
}

export function columnsText([value, about]: Candidate): string {
  return `${value}\t${escapeControls(about).slice(0, ABOUT_CHARS)}\n`;
}

/** Words after the first, the last of them unfinished and perhaps empty. Quotes are taken away; nothing is expanded. */
export function splitLine(line: string): string[] {
  const words: string[] = [];
  let word = "";
  let isOpen = false;
  for (const [token] of line.matchAll(/'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\.|\s+|[^\s'"\\]+|\\$/gs)) {
    if (/^\s/.test(token)) {
      if (isOpen) words.push(word);
      [word, isOpen] = ["", false];
      continue;
    }
    isOpen = true;
    word += token.startsWith("'") || token.startsWith('"') ? token.slice(1).replace(/['"]$/, "") : token.replace(/^\\/, "");
  }
  return [...words, word].slice(1);
}
