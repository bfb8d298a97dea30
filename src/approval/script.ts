// The parser for commands, the same that the gateway's own shell uses. It is large, so only code that judges commands loads this
// file. It is slow on some texts, so commands.ts checks hardness.ts first.

import { Bash } from "just-bash/browser";
import type { ScriptParser } from "./commands.ts";
import type { Script } from "../shell/syntax.ts";

/** The last syntax tree. just-bash passes it to plugins and then prints it again; an empty tree makes that free. */
let tree: Script | null = null;
let bash: Bash | null = null;

/** The syntax tree, or null for text that is not a script. */
export const parseScript: ScriptParser = (text) => {
  bash ??= makeParser();
  tree = null;
  try {
    bash.transform(text);
    return tree;
  } catch {
    return null;
  }
};

function makeParser(): Bash {
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
