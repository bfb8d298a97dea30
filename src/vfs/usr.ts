// /usr: the programs of the shell, so that they can be looked up. /usr/bin has a stub to read for each command of ours;
// /usr/local/bin is for those of packages. The shell runs programs by their path without reading these stubs.

import { type Mount, makeSyntheticMount } from "./mount.ts";

export type Command = { name: string; doc: string };

export function makeUsrMount(commands: () => readonly Command[]): Mount {
  return makeSyntheticMount("/usr", {
    async lookUp(_who, names) {
      switch (names.join("/")) {
        case "":
          return ["bin", "local"];
        case "local":
          return ["bin"];
        case "local/bin":
          return [];
        case "bin":
          return commands().map(({ name }) => name);
        default:
          return names.length === 2 && names[0] === "bin" ? formatStub(commands(), names[1]!) : null;
      }
    },
    mode: () => 0o555,
  });
}

function formatStub(commands: readonly Command[], name: string): string | null {
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) return null;
  return `#!/bin/init\n# ${name}: ${command.doc.replaceAll("\n", "\n# ")}\n# A shell command: see man ${name}.\n`;
}
