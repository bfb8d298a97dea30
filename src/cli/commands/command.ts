// gsv command: installs, shows and removes the gsv command of this user.

import { dirname } from "node:path";
import { findOnPath, findProgram, installLauncher, removeLauncher, thisSystem } from "../launcher/launcher.ts";
import type { Globals } from "../session/session.ts";
import { printCommand, printFields, printJson, printNote } from "../terminal/terminal.ts";

export async function controlCommand(flags: Globals, action: "install" | "status" | "remove"): Promise<number> {
  if (action === "install") return install(flags);
  if (action === "status") return showStatus(flags);
  const file = removeLauncher(thisSystem());
  if (flags.json) printJson({ removed: file });
  else printNote(file === null ? "gsv is not installed as a command." : `Removed ${file}. To run gsv from the clone: npx gsv`);
  return 0;
}

function install(flags: Globals): number {
  const system = thisSystem();
  const { file, isOnPath } = installLauncher(findProgram(), system);
  if (flags.json) printJson({ file, isOnPath });
  else if (isOnPath) printNote(`Installed ${file}. From now on, type gsv. To remove it: gsv command remove`);
  else if (system.platform === "win32") printNote(`Installed ${file}. Add ${dirname(file)} to Path in Settings, and open a new terminal.`);
  else {
    printNote(`Installed ${file}, but that directory is not on your PATH. Add this line to ~/.profile and log in again:`);
    printCommand(`  export PATH="${dirname(file)}:$PATH"`);
  }
  return 0;
}

function showStatus(flags: Globals): number {
  const found = findOnPath(thisSystem());
  if (flags.json) printJson({ command: found });
  else if (found === null) printNote("gsv is not on your PATH. To install it: npx gsv command install");
  else
    printFields([
      ["command", found.file],
      [
        "runs",
        { ours: `the clone in ${found.clone}`, installer: "the program installed from a gateway", foreign: "another program" }[found.owner],
      ],
    ]);
  return found !== null && found.owner !== "foreign" ? 0 : 1;
}
