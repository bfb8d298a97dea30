// Says which build this program runs from, so that a later build does not remove the parts it has yet to load. The other
// side is tools/setup/builds.mjs. A copy of GSV that no clone built has no such folder, and nothing is said.

import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export function claimBuild(program: string): void {
  const claim = fileURLToPath(new URL(`.users/${process.pid}`, program));
  try {
    // One that is left there was a program's of the same number. Nothing is written through it, whatever it is.
    rmSync(claim, { force: true });
    writeFileSync(claim, "", { flag: "wx" });
  } catch {
    // No such folder, or not ours to write to.
    return;
  }
  process.once("exit", () => rmSync(claim, { force: true }));
}
