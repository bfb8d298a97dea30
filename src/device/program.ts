// Which program carries out a command: the user's own shell as at login, so that what works in a terminal works here.

import { accessSync, constants, statSync } from "node:fs";
import { posix } from "node:path";

export type Program = { file: string; args: string[] };

/** An empty input is the shell itself, for somebody to type at. */
export function shellOf(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string>>,
  input: string,
  isProgram = isExecutable,
): Program {
  const isTyped = input.trim() === "";
  if (platform === "win32") return { file: "powershell.exe", args: isTyped ? ["-NoLogo"] : ["-NoLogo", "-NoProfile", "-Command", input] };
  const own = env.SHELL ?? "";
  return { file: posix.isAbsolute(own) && isProgram(own) ? own : "/bin/sh", args: isTyped ? ["-l"] : ["-lc", input] };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
