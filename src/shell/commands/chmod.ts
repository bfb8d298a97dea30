// chmod.

import { defineCommandFile, CommandError } from "../command.ts";
import { applyMode } from "../modes.ts";
import { walk } from "../walk.ts";

export default defineCommandFile({
  name: "chmod",
  usage: "[-R] mode path...",
  doc: "Change the permissions of files. The mode is octal, such as 640, or symbolic, such as u+x,go-w. -R includes everything below a directory.",
  async run({ link, resolve }, args) {
    // Not parsed as flags, because a mode such as -w looks like one.
    const isRecursive = args[0] === "-R" || args[0] === "--recursive";
    const [mode, ...paths] = isRecursive ? args.slice(1) : args;
    if (mode === undefined || paths.length === 0) throw new CommandError("missing operand", 2);
    for (const path of paths.map(resolve)) {
      for await (const { path: at, stat } of walk(link, path, isRecursive)) {
        await link.setMode(at, applyMode(mode, stat.mode, stat.kind === "directory"));
      }
    }
    return "";
  },
});
