// paste: just-bash's own, plus combined flags such as -sd, and the standard input if no file is named.

import { defineCommandFile } from "../command.ts";

export default defineCommandFile({
  name: "paste",
  usage: "[-s] [-d characters] [path...]",
  doc: "Join lines of files side by side. -s joins the lines of each file instead, -d sets the separator.",
  async run({ builtin }, args) {
    const builtinArgs = args.flatMap((arg) => {
      const [, serial, delimiter] = /^-(s?)d([\s\S]*)$/.exec(arg) ?? [];
      if (delimiter === undefined) return [arg];
      return [...(serial === "s" ? ["-s"] : []), "-d", ...(delimiter === "" ? [] : [delimiter])];
    });
    const values = builtinArgs.filter((arg, at) => !(arg.startsWith("-") && arg !== "-") && builtinArgs[at - 1] !== "-d");
    return builtin(values.length === 0 ? [...builtinArgs, "-"] : builtinArgs);
  },
});
