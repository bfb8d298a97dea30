// What a user types to run this program: gsv if it is installed as a command, else npx gsv in the clone.

import { dirname, delimiter } from "node:path";
import { findOnPath, thisSystem } from "./launcher.ts";

export function commandName(): string {
  const started = process.env.GSV_COMMAND;
  if (started) return (process.env.PATH ?? "").split(delimiter).includes(dirname(started)) ? "gsv" : started;
  return isCommandInstalled() ? "gsv" : "npx gsv";
}

/** Whether gsv on PATH is this product, and not another program of that name. */
export function isCommandInstalled(): boolean {
  const found = findOnPath(thisSystem());
  return found !== null && found.owner !== "foreign";
}
