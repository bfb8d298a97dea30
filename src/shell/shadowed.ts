// Commands of ours that have the name of a just-bash builtin, which would win. They are registered under another name, and
// each call is renamed before the script runs.

import type { Plugin } from "./syntax.ts";

/** By the name that users type, the name under which just-bash finds our command. */
export const OURS: Readonly<Record<string, string>> = { help: "gsv-help" };

export const shadowedPlugin: Plugin = {
  name: "gsv-commands",
  transform: ({ ast }) => {
    renameCalls(ast);
    return { ast };
  },
};

/** Visits the whole tree, including loops, functions and substitutions. */
function renameCalls(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  const { type, name } = node as { type?: unknown; name?: { parts?: { type: string; value?: string }[] } | null };
  const part = type === "SimpleCommand" && name?.parts?.length === 1 ? name.parts[0] : undefined;
  if (part?.type === "Literal" && part.value !== undefined && Object.hasOwn(OURS, part.value)) part.value = OURS[part.value]!;
  for (const child of Object.values(node)) renameCalls(child);
}
