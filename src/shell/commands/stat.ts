// stat.

import { defineCommandFile, CommandError } from "../command.ts";
import { formatMode } from "../modes.ts";
import { People } from "../people.ts";

export default defineCommandFile({
  name: "stat",
  usage: "[-c FORMAT] path...",
  doc: "Show the attributes of a file. FORMAT takes %n name, %N quoted name, %s size, %F kind, %a mode, %A mode in letters, %u %U owner, %g %G group, %Y modification time.",
  async run({ link, resolve }, args) {
    const isFormat = ["-c", "--format"].includes(args[0] ?? "");
    const inline = args[0]?.startsWith("--format=") ? args[0].slice("--format=".length) : undefined;
    const format = inline ?? (isFormat ? args[1] : undefined);
    const paths = args.slice(inline !== undefined ? 1 : isFormat ? 2 : 0);
    if (paths.length === 0) throw new CommandError("missing operand", 2);
    const people = await People.read(link);
    const out: string[] = [];
    for (const path of paths) {
      const stat = await link.stat(resolve(path));
      const mode = (stat.mode & 0o7777).toString(8);
      const facts: Record<string, string> = {
        n: path,
        N: `'${path}'`,
        s: String(stat.size),
        F: stat.kind === "directory" ? "directory" : stat.size === 0 ? "regular empty file" : "regular file",
        a: mode,
        A: formatMode(stat.kind, stat.mode),
        u: String(stat.uid),
        U: people.userName(stat.uid),
        g: String(stat.gid),
        G: people.groupName(stat.gid),
        Y: String(Math.floor(stat.modifiedAt / 1000)),
        y: new Date(stat.modifiedAt).toISOString(),
        "%": "%",
      };
      if (format !== undefined) out.push(`${format.replace(/%(.)/g, (whole, letter: string) => facts[letter] ?? whole)}\n`);
      else
        out.push(
          `  File: ${path}\n  Size: ${stat.size}\t${facts.F}\nAccess: (${mode.padStart(4, "0")}/${facts.A})  Uid: (${facts.u}/${facts.U})  Gid: (${facts.g}/${facts.G})\nModify: ${facts.y}\n`,
        );
    }
    return out.join("");
  },
});
