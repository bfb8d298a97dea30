// /usr: the programs of the shell, so that they can be looked up. /usr/bin has a stub to read for each command of ours;
// /usr/local/bin is for those of packages. The shell runs programs by their path without reading these stubs.

import { commandSummaries } from "../generated/shell-commands.ts";
import { makeSyntheticMount } from "./mount.ts";

export const usrMount = makeSyntheticMount("/usr", {
  async lookUp(_who, names) {
    switch (names.join("/")) {
      case "":
        return ["bin", "local"];
      case "local":
        return ["bin"];
      case "local/bin":
        return [];
      case "bin":
        return Object.keys(commandSummaries);
      default:
        return names.length === 2 && names[0] === "bin" ? formatStub(names[1]!) : null;
    }
  },
  mode: () => 0o555,
});

function formatStub(name: string): string | null {
  if (!Object.hasOwn(commandSummaries, name)) return null;
  return `#!/bin/init\n# ${name}: ${commandSummaries[name]!.replaceAll("\n", "\n# ")}\n# A shell command: see man ${name}.\n`;
}
