// Commands of the gateway's shell, which people also look for among those of gsv.

import { commandSummaries } from "../../generated/shell-commands.ts";

/** Where such a command runs; null if there is none of this name. */
export function describeShellCommand(name: string): string | null {
  if (!Object.hasOwn(commandSummaries, name)) return null;
  return `${name} is a command of the gateway's shell: gsv run -- ${name} ...; gsv run -- man ${name} explains it`;
}
