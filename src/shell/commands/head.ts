// head: just-bash's own, except for devices without an end, which it cannot read whole first, and for -n -N.

import { toLatin1 } from "../../lib/bytes.ts";
import { defineCommandFile, CommandError, type Output } from "../command.ts";

const BYTES_MAX = 2 * 1024 * 1024;
const ENDLESS_DEVICES = new Set(["/dev/zero", "/dev/random", "/dev/urandom"]);
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

export default defineCommandFile({
  name: "head",
  usage: "[-n lines | -c bytes] [path...]",
  doc: "Print the beginning of files. /dev/zero and /dev/urandom need -c.",
  async run({ builtin, resolve }, args) {
    const path = args.find((arg) => !arg.startsWith("-") && ENDLESS_DEVICES.has(resolve(arg)));
    const short = parseAllBut(args);
    if (path === undefined) return short === null ? builtin(args) : dropLastLines(await builtin(short.others), short.lines);
    const count = /(?:^|\s)(?:-c|--bytes=?)\s*(\d+)([a-zA-Z]*)(?:\s|$)/.exec(args.join(" "));
    const unit = UNITS[count?.[2] ?? ""];
    if (count === null || unit === undefined) throw new CommandError(`${path} is endless: limit it with -c`);
    const bytes = Number(count[1]) * unit;
    if (bytes > BYTES_MAX) throw new CommandError(`${bytes} bytes exceed the output limit of a command (${BYTES_MAX})`);
    if (resolve(path) === "/dev/zero") return { stdout: "\0".repeat(bytes), stdoutKind: "bytes" as const };
    const random = new Uint8Array(bytes);
    for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(random.subarray(at, at + 65_536));
    return { stdout: toLatin1(random), stdoutKind: "bytes" as const };
  },
});

/** `-n -2`: all lines but the last two. */
function parseAllBut(args: readonly string[]): { lines: number; others: string[] } | null {
  const at = args.findIndex((arg, index) => /^(?:-n|--lines=)-\d+$/.test(arg) || (arg === "-n" && /^-\d+$/.test(args[index + 1] ?? "")));
  if (at === -1) return null;
  const isSeparate = args[at] === "-n";
  const lines = Number(/\d+$/.exec(isSeparate ? args[at + 1]! : args[at]!)![0]);
  return { lines, others: ["-n", String(LINES_MAX), ...args.filter((_, index) => index !== at && !(isSeparate && index === at + 1))] };
}

const LINES_MAX = 100_000_000;

function dropLastLines(output: Output, lines: number): Output {
  const all = (output.stdout ?? "").split(/(?<=\n)/);
  return { ...output, stdout: all.slice(0, Math.max(0, all.length - lines)).join("") };
}
