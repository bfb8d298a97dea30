// gsv rm: deletes files, and directories with everything below them. To prevent accidents, a person is asked before a directory
// is deleted, and a script needs -r.

import type { Client } from "../../client/client.ts";
import { CallError } from "../../client/connection.ts";
import { askYesNo, isInteractive } from "../terminal/ask.ts";
import { explainDeviceError } from "../device/no-such-device.ts";
import { type TargetPath, parseTargetPath, formatTargetPath } from "../files/target-path.ts";
import { Problem, printError } from "../terminal/problem.ts";
import { isDirectory, requireOk } from "../files/remote-file.ts";
import { type Globals, withClient } from "../session/session.ts";
import { escapeControls, printJson } from "../terminal/terminal.ts";

type Flags = Globals & { recursive?: boolean; force?: boolean };

export async function rm(flags: Flags, texts: readonly string[]): Promise<number> {
  const places = texts.map((text) => parseTargetPath(text));
  return withClient(flags, async (client) => {
    const deleted: TargetPath[] = [];
    let exitCode = 0;
    for (const place of places) {
      try {
        if (!(await confirmRemoval(client, flags, place))) continue;
        const { path } = requireOk(await client.call("fs.delete", place));
        deleted.push({ ...place, path });
      } catch (error) {
        // A file that cannot be deleted does not stop the others.
        if (!(error instanceof CallError) && !(error instanceof Problem && error.exitCode === 1)) throw error;
        exitCode = printError(await explainDeviceError(client, error));
      }
    }
    if (flags.json) printJson({ deleted });
    return exitCode;
  });
}

async function confirmRemoval(client: Client, flags: Flags, place: TargetPath): Promise<boolean> {
  const canAsk = isInteractive();
  if (canAsk ? flags.force : flags.recursive) return true;
  if (!(await isDirectory(client, place))) return true;
  const name = formatTargetPath(place, place.path);
  if (!canAsk) throw new Problem(`Is a directory: ${name}. Add -r to delete it with everything in it`);
  return askYesNo(`Delete the directory ${escapeControls(name)} with everything in it?`, false);
}
