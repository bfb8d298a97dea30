// /usr/local/bin: one stub for each command of the shell, so that what can be run can also be looked up. Running one by its
// path is the shell's business; here they are read.

import { type Mount, synthetic } from "./mount.ts";

export type Command = { name: string; doc: string };

export function usrMount(commands: () => readonly Command[]): Mount {
  return synthetic("/usr", {
    async look(_who, names) {
      switch (names.join("/")) {
        case "":
          return ["local"];
        case "local":
          return ["bin"];
        case "local/bin":
          return commands().map(({ name }) => name);
        default:
          return names.length === 3 && names.slice(0, 2).join("/") === "local/bin" ? stub(commands(), names[2]!) : null;
      }
    },
    mode: () => 0o555,
  });
}

function stub(commands: readonly Command[], name: string): string | null {
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) return null;
  return `#!/bin/init\n# ${name}: ${command.doc.replaceAll("\n", "\n# ")}\n# A command of the shell: man ${name} says more.\n`;
}
