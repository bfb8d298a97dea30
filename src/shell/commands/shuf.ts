// shuf.

import { defineCommandFile, CommandError } from "../command.ts";

export default defineCommandFile({
  name: "shuf",
  usage: "[-e words... | -i from-to] [-n count] [path]",
  doc: "Shuffle lines. -e shuffles words instead of lines, -i numbers, -n limits how many, -r allows repeats.",
  async run({ read }, args) {
    const rest: string[] = [];
    let [isWords, repeats] = [false, false];
    let count = Number.POSITIVE_INFINITY;
    let range: string | undefined;
    for (let at = 0; at < args.length; at++) {
      const arg = args[at]!;
      if (arg === "-e") isWords = true;
      else if (arg === "-r") repeats = true;
      else if (arg.startsWith("-n")) count = Number(arg.length > 2 ? arg.slice(2) : args[++at]);
      else if (arg.startsWith("-i")) range = arg.length > 2 ? arg.slice(2) : args[++at];
      else if (/^-./.test(arg)) throw new CommandError(`unknown option ${arg}`, 2);
      else rest.push(arg);
    }
    if (Number.isNaN(count)) throw new CommandError("invalid line count");
    const lines = range === undefined ? (isWords ? rest : splitLines(await read(rest[0] ?? "-"))) : parseRange(range);
    if (repeats) {
      if (!Number.isFinite(count) || lines.length === 0) throw new CommandError("-r needs input lines and -n");
      return Array.from({ length: count }, () => `${lines[randomBelow(lines.length)]}\n`).join("");
    }
    for (let at = lines.length - 1; at > 0; at--) {
      const other = randomBelow(at + 1);
      [lines[at], lines[other]] = [lines[other]!, lines[at]!];
    }
    return lines
      .slice(0, count)
      .map((line) => `${line}\n`)
      .join("");
  },
});

function splitLines(bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function parseRange(range: string): string[] {
  const [from = Number.NaN, to = Number.NaN] = range.split("-").map(Number);
  if (!(to - from < 1_000_000)) throw new CommandError(`invalid input range: '${range}'`);
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => String(from + at));
}

function randomBelow(limit: number): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! % limit;
}
