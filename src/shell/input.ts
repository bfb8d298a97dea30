// Lines a command asks for: from its standard input where something was piped in, else from the terminal.

import { type CommandContext, CommandError } from "./command.ts";

export function inputLines({ stdin, terminal }: Pick<CommandContext, "stdin" | "terminal">): (what: string) => Promise<string> {
  const piped = stdin === "" ? null : stdin.split("\n");
  return async (what) => {
    if (piped === null) terminal.write("stderr", `${what}: `);
    const line = piped === null ? await terminal.line() : piped.shift();
    const text = line?.replace(/\r?\n$/, "") ?? "";
    if (text === "") throw new CommandError(`no ${what} given`);
    return text;
  };
}
