// The parser that tags.ts reads commands with: the gateway's own shell reads them the same way. It is large, so only
// whoever has commands to judge loads this file. It takes long over some texts: commands.ts asks hardness.ts first.

import { Bash } from "just-bash/browser";
import type { Parse } from "./commands.ts";
import type { Script } from "../shell/syntax.ts";

/** The tree that was read last. just-bash gives it to its plugins, and would write it out again: of an empty one, nothing. */
let tree: Script | null = null;
let bash: Bash | null = null;

/** The syntax tree, or null for what is not a script. */
export const parseScript: Parse = (text) => {
  bash ??= reader();
  tree = null;
  try {
    bash.transform(text);
    return tree;
  } catch {
    return null;
  }
};

function reader(): Bash {
  const bash = new Bash({ commands: [], defenseInDepth: false });
  bash.registerTransformPlugin({
    name: "keep-tree",
    transform({ ast }) {
      tree = ast;
      return { ast: { ...ast, statements: [] } };
    },
  });
  return bash;
}
