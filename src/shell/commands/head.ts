// head: just-bash's own, but for the devices that have no end, of which it cannot read the whole first.

import { command, CommandError } from "../command.ts";

const BYTES_MAX = 2 * 1024 * 1024;
const NO_END = new Set(["/dev/zero", "/dev/random", "/dev/urandom"]);
const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 512,
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  kB: 1000,
  MB: 1000 ** 2,
  GB: 1000 ** 3,
  T: 1024 ** 4,
};

export default command({
  name: "head",
  usage: "[-n lines | -c bytes] [path...]",
  doc: "Print the beginning of files. Of /dev/zero and /dev/urandom as many bytes as -c says.",
  async run({ builtin, resolve }, args) {
    const path = args.find((arg) => !arg.startsWith("-") && NO_END.has(resolve(arg)));
    if (path === undefined) return builtin(args);
    const count = /(?:^|\s)(?:-c|--bytes=?)\s*(\d+)([a-zA-Z]*)(?:\s|$)/.exec(args.join(" "));
    const unit = UNITS[count?.[2] ?? ""];
    if (count === null || unit === undefined) throw new CommandError(`${path} has no end: say how much of it with -c`);
    const bytes = Number(count[1]) * unit;
    if (bytes > BYTES_MAX) throw new CommandError(`${bytes} bytes are more than a command may put out here (${BYTES_MAX})`);
    if (resolve(path) === "/dev/zero") return { stdout: "\0".repeat(bytes), stdoutKind: "bytes" as const };
    const random = new Uint8Array(bytes);
    for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(random.subarray(at, at + 65_536));
    return { stdout: Array.from(random, (byte) => String.fromCharCode(byte)).join(""), stdoutKind: "bytes" as const };
  },
});
