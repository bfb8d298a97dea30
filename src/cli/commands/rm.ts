// gsv rm: deletes files, and directories with everything below them. To prevent accidents, a person is asked before a directory
// is deleted, and a script needs -r.

import type { Client } from "../../client/client.ts";
import { CallError } from "../../client/connection.ts";
import { askYes, isInteractive } from "../terminal/ask.ts";
import { explainDevice } from "../device/no-such-device.ts";
import { type TargetPath, parseTargetPath, formatTargetPath } from "../files/target-path.ts";
import { Problem, printError } from "../terminal/problem.ts";
import { isDirectory, mustBeOk } from "../files/remote-file.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printable, sayJson } from "../terminal/terminal.ts";

type Flags = Globals & { recursive?: boolean; force?: boolean };

export async function rm(flags: Flags, texts: readonly string[]): Promise<number> {
  const places = texts.map((text) => parseTargetPath(text));
  return withClient(flags, async (client) => {
    const deleted: TargetPath[] = [];
    let exitCode = 0;
    for (const place of places) {
      try {
        if (!(await isConfirmed(client, flags, place))) continue;
        const { path } = mustBeOk(await client.call("fs.delete", place));
        deleted.push({ ...place, path });
      } catch (error) {
        // A file that cannot be deleted does not stop the others.
        if (!(error instanceof CallError) && !(error instanceof Problem && error.exitCode === 1)) throw error;
        exitCode = printError(await explainDevice(client, error));
      }
    }
    if (flags.json) sayJson({ deleted });
    return exitCode;
  });
}

async function isConfirmed(client: Client, flags: Flags, place: TargetPath): Promise<boolean> {
  const canAsk = isInteractive();
  if (canAsk ? flags.force : flags.recursive) return true;
  if (!(await isDirectory(client, place))) return true;
  const name = formatTargetPath(place, place.path);
  if (!canAsk) throw new Problem(`Is a directory: ${name}. Add -r to delete it with everything in it`);
  return askYes(`Delete the directory ${printable(name)} with everything in it?`, false);
}
