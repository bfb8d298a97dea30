// cmp.

import { defineCommandFile, CommandError, parseFlags } from "../command.ts";

export default defineCommandFile({
  name: "cmp",
  usage: "[-s] file [file]",
  doc: "Compare two files byte by byte; - is standard input. -s prints nothing. Exits with 0 if they are equal, 1 if they differ.",
  async run({ read }, args) {
    const { flags, rest } = parseFlags(args, { silent: "s", quiet: "s" });
    const [one, other = "-", ...more] = rest;
    if (one === undefined || more.length > 0) throw new CommandError("takes one or two files", 2);
    const [a, b] = [await read(one), await read(other)];
    const length = Math.min(a.length, b.length);
    let at = 0;
    while (at < length && a[at] === b[at]) at++;
    if (at === a.length && at === b.length) return "";
    if (flags.has("s")) return { exitCode: 1 };
    const line = a.subarray(0, at).reduce((count, byte) => count + (byte === 10 ? 1 : 0), 1);
    if (at < length) return { stdout: `${one} ${other} differ: byte ${at + 1}, line ${line}\n`, exitCode: 1 };
    return { stderr: `cmp: EOF on ${a.length < b.length ? one : other} after byte ${length}\n`, exitCode: 1 };
  },
});
