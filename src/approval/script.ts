// The parser that tags.ts reads commands with: the gateway's own shell reads them the same way. It is large, so only
// whoever has commands to judge loads this file.

import { Bash } from "just-bash/browser";
import type { Parse } from "./commands.ts";

/** What is longer is not judged by its words; a person sees it. */
const SCRIPT_CHARS_MAX = 32 * 1024;

let bash: Bash | null = null;

/** The syntax tree, or null for what is not a script. */
export const parseScript: Parse = (text) => {
  if (text.length > SCRIPT_CHARS_MAX) return null;
  bash ??= new Bash({ commands: [], defenseInDepth: false });
  try {
    return bash.transform(text).ast;
  } catch {
    return null;
  }
};
