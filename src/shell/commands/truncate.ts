// truncate.

import { defineCommandFile, CommandError } from "../command.ts";
import { parseSize } from "../sizes.ts";

const BYTES_MAX = 16 * 1024 * 1024;

export default defineCommandFile({
  name: "truncate",
  usage: "-s size path...",
  doc: "Set the size of files: longer files are cut, shorter ones are filled with zeros. The size may be relative, +N or -N, and end in K, M or G.",
  async run({ link, resolve, read }, args) {
    const at = args.findIndex((arg) => /^(?:-s|--size)/.test(arg));
    const inline = args[at]?.replace(/^(?:-s|--size=?)/, "") ?? "";
    const size = inline === "" ? args[at + 1] : inline;
    const paths = args.filter((_, index) => index !== at && !(inline === "" && index === at + 1));
    if (at === -1 || size === undefined || paths.length === 0) throw new CommandError("missing size or path", 2);
    for (const path of paths) {
      const before = await read(path).catch(() => new Uint8Array());
      const sign = /^[+-]/.exec(size)?.[0] ?? "";
      const amount = parseSize(size.slice(sign.length)) ?? -1;
      const length = sign === "" ? amount : Math.max(0, before.length + (sign === "+" ? amount : -amount));
      if (amount < 0 || length > BYTES_MAX) throw new CommandError(`invalid size: ${size}`);
      const after = new Uint8Array(length);
      after.set(before.subarray(0, length));
      await link.write(resolve(path), after);
    }
    return "";
  },
});
