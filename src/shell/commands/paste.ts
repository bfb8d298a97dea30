// paste: just-bash's own, with flags in one word told apart, and the standard input where no file is named.

import { command } from "../command.ts";

export default command({
  name: "paste",
  usage: "[-s] [-d characters] [path...]",
  doc: "Put lines of files beside each other. -s the lines of each file, -d what stands between them.",
  async run({ builtin }, args) {
    const told = args.flatMap((arg) => {
      const [, together, between] = /^-(s?)d([\s\S]*)$/.exec(arg) ?? [];
      if (between === undefined) return [arg];
      return [...(together === "s" ? ["-s"] : []), "-d", ...(between === "" ? [] : [between])];
    });
    const values = told.filter((arg, at) => !(arg.startsWith("-") && arg !== "-") && told[at - 1] !== "-d");
    return builtin(values.length === 0 ? [...told, "-"] : told);
  },
});
