// realpath. There are no links, so it only removes dots from the path.

import { FileError } from "../../hardware/filesystem.ts";
import { defineCommandFile, CommandError, parseFlags } from "../command.ts";

export default defineCommandFile({
  name: "realpath",
  usage: "[-emqs] path...",
  doc: "Print absolute paths without . and .. components. With -e, the whole path must exist; with -m, nothing has to; otherwise, all but the last component.",
  async run({ link, resolve }, args) {
    const known = { "canonicalize-existing": "e", "canonicalize-missing": "m", quiet: "q", strip: "s", "no-symlinks": "s" };
    const { flags, rest } = parseFlags(args, known);
    if (rest.length === 0) throw new CommandError("missing operand", 2);
    let [stdout, stderr] = ["", ""];
    for (const name of rest) {
      const path = resolve(name);
      const needed = flags.has("e") ? path : path.slice(0, path.lastIndexOf("/")) || "/";
      try {
        if (!flags.has("m")) await link.stat(needed);
        stdout += `${path}\n`;
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
        stderr += `realpath: ${name}: ${error.code === "EACCES" ? "Permission denied" : "No such file or directory"}\n`;
      }
    }
    return { stdout, stderr: flags.has("q") ? "" : stderr, exitCode: stderr === "" ? 0 : 1 };
  },
});
