// od. just-bash's own prints only octal.

import { defineCommandFile, CommandError } from "../command.ts";
import { parseSize } from "../sizes.ts";

type Format = { size: number; width: number; show: (bytes: Uint8Array) => string };

const PER_LINE = 16;
const ESCAPES: Readonly<Record<number, string>> = { 0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r" };
const LETTERS: Readonly<Record<string, string>> = { b: "o1", c: "c", d: "u2", o: "o2", s: "d2", x: "x2" };

export default defineCommandFile({
  name: "od",
  usage: "[-bcdosx] [-A d|o|x|n] [-t type] [-j skip] [-N count] [-v] [path...]",
  doc: "Show the bytes of a file. -A sets the radix of offsets, or n for none; -t the format, such as x1, o1, u1, d2, x4 or c; -c shows characters, -b octal bytes, -x hexadecimal words; -j skips bytes, -N limits how many are shown.",
  async run({ read }, args) {
    const paths: string[] = [];
    const types: string[] = [];
    let [radix, skip, count] = ["o", 0, Number.POSITIVE_INFINITY];
    for (let at = 0; at < args.length; at++) {
      const arg = args[at]!;
      const [, flag = "", inline = ""] = /^-([AtjN])(.*)$/.exec(arg) ?? [];
      const value = flag === "" || inline !== "" ? inline : (args[++at] ?? "");
      if (flag === "A") radix = value;
      else if (flag === "t") types.push(...(value.match(/[acdoux]\d*z?/g) ?? failInvalid(arg)));
      else if (flag === "j") skip = parseSize(value) ?? failInvalid(arg);
      else if (flag === "N") count = parseSize(value) ?? failInvalid(arg);
      else if (/^-[a-z]+$/.test(arg))
        types.push(
          ...arg
            .slice(1)
            .replaceAll("v", "")
            .split("")
            .map((letter) => LETTERS[letter] ?? failInvalid(arg)),
        );
      else if (/^-./.test(arg)) failInvalid(arg);
      else paths.push(arg);
    }
    const parts = await Promise.all((paths.length === 0 ? ["-"] : paths).map(read));
    const bytes = Uint8Array.from(parts.flatMap((part) => [...part])).slice(skip, skip + count);
    const formats = (types.length === 0 ? ["o2"] : types).map(parseFormat);
    const lines: string[] = [];
    for (let at = 0; at < bytes.length; at += PER_LINE) {
      const row = bytes.subarray(at, at + PER_LINE);
      for (const [index, format] of formats.entries())
        lines.push(
          (index === 0 ? formatOffset(skip + at, radix) : " ".repeat(formatOffset(0, radix).length)) + formatRow(row, format, formats),
        );
    }
    if (radix !== "n") lines.push(formatOffset(skip + bytes.length, radix));
    return lines.map((line) => `${line}\n`).join("");
  },
});

function parseFormat(type: string): Format {
  const [, kind = "", text = ""] = /^([acdoux])(\d*)/.exec(type)!;
  if (kind === "c" || kind === "a") return { size: 1, width: 3, show: ([byte = 0]) => formatCharacter(byte) };
  const size = Number(text === "" ? 4 : text);
  if (![1, 2, 4].includes(size)) failInvalid(type);
  const base = { o: 8, x: 16, u: 10, d: 10 }[kind as "o"];
  const width = kind === "d" ? [4, 6, 0, 11][size - 1]! : (256 ** size - 1).toString(base).length;
  const show = (bytes: Uint8Array) => {
    const value = bytes.reduceRight((sum, byte) => sum * 256 + byte, 0);
    const signed = kind === "d" && value >= 256 ** size / 2 ? value - 256 ** size : value;
    return base === 10 ? String(signed) : value.toString(base).padStart(width, "0");
  };
  return { size, width, show };
}

/** Aligns the columns of several formats. */
function formatRow(row: Uint8Array, { size, width, show }: Format, all: readonly Format[]): string {
  const perByte = Math.max(...all.map((other) => (other.width + 1) / other.size));
  const cells = Array.from({ length: Math.ceil(row.length / size) }, (_, at) => {
    const bytes = new Uint8Array(size);
    bytes.set(row.subarray(at * size, (at + 1) * size));
    return show(bytes).padStart(Math.max(width + 1, perByte * size));
  });
  return cells.join("");
}

function formatCharacter(byte: number): string {
  return ESCAPES[byte] ?? (byte < 32 || byte > 126 ? byte.toString(8).padStart(3, "0") : String.fromCharCode(byte));
}

function formatOffset(value: number, radix: string): string {
  if (radix === "n") return "";
  const [base, width] = radix === "x" ? [16, 6] : radix === "d" ? [10, 7] : [8, 7];
  return value.toString(base).padStart(width, "0");
}

function failInvalid(what: string): never {
  throw new CommandError(`invalid option: ${what}`, 2);
}
