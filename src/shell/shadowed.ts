// Commands of ours that just-bash answers before it looks for commands at all: they are called by another name, which
// each call of them is given before the script runs.

import type { Plugin } from "./syntax.ts";

/** Our name of a command, and what just-bash is told to call. */
export const OURS: Readonly<Record<string, string>> = { help: "gsv-help" };

export const withOurs: Plugin = {
  name: "gsv-commands",
  transform: ({ ast }) => {
    rename(ast);
    return { ast };
  },
};

/** Wherever a command stands: in loops, functions, substitutions. */
function rename(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  const { type, name } = node as { type?: unknown; name?: { parts?: { type: string; value?: string }[] } | null };
  const part = type === "SimpleCommand" && name?.parts?.length === 1 ? name.parts[0] : undefined;
  if (part?.type === "Literal" && part.value !== undefined && Object.hasOwn(OURS, part.value)) part.value = OURS[part.value]!;
  for (const child of Object.values(node)) rename(child);
}
