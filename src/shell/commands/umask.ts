// umask. New files are always 0644 here, so a script that asks for another mask gets an error.

import { defineCommandFile, CommandError } from "../command.ts";

export default defineCommandFile({
  name: "umask",
  usage: "[0022]",
  doc: "Print the file mode mask, which is always 0022. It cannot be changed; use chmod.",
  async run(_context, args) {
    const [mask] = args.filter((arg) => arg !== "-p");
    if (mask === "-S") return "u=rwx,g=rx,o=rx\n";
    if (mask === undefined) return "0022\n";
    if (/^0{0,2}22$/.test(mask)) return "";
    throw new CommandError(`${mask}: the mask is always 0022 here: use chmod`);
  },
});
