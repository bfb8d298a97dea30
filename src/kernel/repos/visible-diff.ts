// What an agent sees of a diff. Which files a diff contains is not known before the call, so a person cannot be asked for approval:
// files that hold secrets are shown without their content, which repo.read returns after approval. People see everything.

import { namesSecret } from "../../lib/secrets.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { RepoDiffFile } from "../../repo/diff.ts";

export function redactDiff({ agent }: Pick<Caller, "agent">, files: readonly RepoDiffFile[]): RepoDiffFile[] {
  return files.map((file) => {
    const { hunks: _, ...named } = file;
    return agent !== undefined && namesSecret(file.path) ? named : file;
  });
}
