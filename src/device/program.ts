// Which program runs a command: the user's login shell, so that whatever works in a terminal works here.

import { accessSync, constants, statSync } from "node:fs";
import { posix } from "node:path";

export type Program = { file: string; args: string[] };

/** An empty input starts an interactive shell. */
export function makeShellProgram(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string>>,
  input: string,
  isProgram = isExecutable,
): Program {
  const isInteractive = input.trim() === "";
  if (platform === "win32")
    return { file: "powershell.exe", args: isInteractive ? ["-NoLogo"] : ["-NoLogo", "-NoProfile", "-Command", input] };
  const shell = env.SHELL ?? "";
  return { file: posix.isAbsolute(shell) && isProgram(shell) ? shell : "/bin/sh", args: isInteractive ? ["-l"] : ["-lc", input] };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
