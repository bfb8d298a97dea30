// What of a difference an agent is shown. It cannot be known before the call which files one holds, so nobody can be asked
// about it: files that hold secrets come without their content, and repo.read asks for that. People see all of it.

import { namesSecret } from "../../lib/secrets.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { RepoDiffFile } from "../../repo/diff.ts";

export function shownTo({ agent }: Pick<Caller, "agent">, files: readonly RepoDiffFile[]): RepoDiffFile[] {
  return files.map((file) => {
    const { hunks: _, ...named } = file;
    return agent !== undefined && namesSecret(file.path) ? named : file;
  });
}
