// Records which build this program runs from, so that a later build does not remove files it has yet to load. The reader is
// tools/setup/builds.mjs. Only builds made in a clone have the folder; without it nothing is recorded.

import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export function claimBuild(program: string): void {
  const claim = fileURLToPath(new URL(`.users/${process.pid}`, program));
  try {
    // An existing file is stale, left by a process with the same pid. It is removed first, so that a symlink is never followed.
    rmSync(claim, { force: true });
    writeFileSync(claim, "", { flag: "wx" });
  } catch {
    // The folder is missing, or we may not write to it.
    return;
  }
  process.once("exit", () => rmSync(claim, { force: true }));
}
