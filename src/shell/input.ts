// Lines that a command asks for: from its standard input if something was piped in, else from the terminal.

import { type CommandContext, CommandError } from "./command.ts";

export function makeLineReader({ stdin, terminal }: Pick<CommandContext, "stdin" | "terminal">): (what: string) => Promise<string> {
  const pipedLines = stdin === "" ? null : stdin.split("\n");
  return async (what) => {
    if (pipedLines === null) terminal.write("stderr", `${what}: `);
    const line = pipedLines === null ? await terminal.readLine() : pipedLines.shift();
    const text = line?.replace(/\r?\n$/, "") ?? "";
    if (text === "") throw new CommandError(`no ${what} given`);
    return text;
  };
}
