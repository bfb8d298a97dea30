// sort, in the byte order of ls and globs. just-bash's own sorts by locale and finds keys only without blanks before them.

import { defineCommandFile, type CommandContext, CommandError } from "../command.ts";

type Key = { from: number; fromChar: number; to: number; toChar: number; flags: string };
type Options = { flags: string; separator: string | null; keys: Key[]; output: string | null; paths: string[] };

const LONG: Readonly<Record<string, string>> = {
  reverse: "r",
  unique: "u",
  "numeric-sort": "n",
  "general-numeric-sort": "g",
  "human-numeric-sort": "h",
  "version-sort": "V",
  "month-sort": "M",
  "ignore-case": "f",
  "ignore-leading-blanks": "b",
  "dictionary-order": "d",
  stable: "s",
  check: "c",
  "zero-terminated": "z",
  "random-sort": "R",
};

export default defineCommandFile({
  name: "sort",
  usage: "[-rnghVMfbdsucCzR] [-k from[,to][flags]] [-t character] [-o path] [path...]",
  doc: "Sort lines by their bytes. -n sorts numbers, -g numbers with fractions and exponents, -h sizes such as 2K 1G, -V versions, -M months; -f ignores case, -r reverses the order, -u prints each line once, -k sorts by fields, -t sets the field separator, -s keeps the order of equal lines, -c only checks, -o writes to a file, -R shuffles.",
  async run(context, args) {
    const options = parseArgs(args);
    const { flags } = options;
    const end = flags.includes("z") ? "\0" : "\n";
    const lines = (await readTexts(context, options.paths)).flatMap((text) => linesOf(text, end));
    const order = makeOrder(options);
    if (/[cC]/.test(flags)) return checkOrder(lines, order, flags, options.paths[0] ?? "-");
    const sorted = flags.includes("R") ? shuffle(lines) : lines.toSorted(order.full);
    const kept = flags.includes("u") ? sorted.filter((line, at) => at === 0 || order.keyed(sorted[at - 1]!, line) !== 0) : sorted;
    const stdout = kept.map((line) => line + end).join("");
    if (options.output === null) return stdout;
    await context.link.write(context.resolve(options.output), new TextEncoder().encode(stdout));
    return "";
  },
});

function parseArgs(args: readonly string[]): Options {
  const options: Options = { flags: "", separator: null, keys: [], output: null, paths: [] };
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (!/^-./.test(arg)) {
      options.paths.push(arg);
      continue;
    }
    if (arg === "--") {
      options.paths.push(...args.slice(at + 1));
      break;
    }
    const [, long, given] = /^--([a-z-]+)(?:=(.*))?$/.exec(arg) ?? [];
    const valued = ({ key: "k", "field-separator": "t", output: "o", parallel: "S", "buffer-size": "S" } as Record<string, string>)[
      long ?? ""
    ];
    const letters = long === undefined ? arg.slice(1) : (valued ?? LONG[long] ?? failInvalid(arg));
    for (let index = 0; index < letters.length; index++) {
      const letter = letters[index]!;
      if (!"ktoST".includes(letter)) {
        options.flags += "rnghVMfbdsucCzRi".includes(letter) ? letter : failInvalid(`-${letter}`);
        continue;
      }
      const rest = given ?? letters.slice(index + 1);
      const value = rest === "" ? (args[++at] ?? failInvalid(arg)) : rest;
      if (letter === "k") options.keys.push(parseKey(value));
      else if (letter === "t") options.separator = value === "\\0" ? "\0" : value;
      else if (letter === "o") options.output = value;
      break;
    }
  }
  return options;
}

function parseKey(text: string): Key {
  const [, from, fromChar = "1", one = "", to = "0", toChar = "0", other = ""] =
    /^(\d+)(?:\.(\d+))?([a-zA-Z]*)(?:,(\d+)(?:\.(\d+))?([a-zA-Z]*))?$/.exec(text) ?? [];
  if (from === undefined || from === "0") throw new CommandError(`invalid key: ${text}`, 2);
  return { from: Number(from), fromChar: Number(fromChar), to: Number(to), toChar: Number(toChar), flags: one + other };
}

async function readTexts({ read }: CommandContext, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths.length === 0 ? ["-"] : paths) {
    const bytes = await read(path).catch((error: unknown) => {
      throw error instanceof CommandError ? new CommandError(`cannot read: ${error.message}`, 2) : error;
    });
    found.push(new TextDecoder().decode(bytes));
  }
  return found;
}

function linesOf(text: string, end: string): string[] {
  const lines = text.split(end);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

type Order = Record<"keyed" | "full", (a: string, b: string) => number>;

function makeOrder({ flags, keys, separator }: Options): Order {
  const general = flags.replace(/[uscCz]/g, "");
  const rules = (keys.length === 0 ? [null] : keys).map((key) => {
    const own = key === null || key.flags === "" ? general : key.flags;
    const compare = makeComparer(own);
    const sign = own.includes("r") ? -1 : 1;
    return (a: string, b: string) => sign * compare(extractKey(a, key, separator, own), extractKey(b, key, separator, own));
  });
  const keyed = (a: string, b: string) => rules.reduce((found, rule) => found || rule(a, b), 0);
  const isLast = !flags.includes("s") && !flags.includes("u");
  const full = (a: string, b: string) => keyed(a, b) || (isLast ? (flags.includes("r") ? -1 : 1) * byBytes(a, b) : 0);
  return { keyed, full };
}

/** Without a separator, a field includes the blanks before it. */
function extractKey(line: string, key: Key | null, separator: string | null, flags: string): string {
  if (key === null) return flags.includes("b") ? line.trimStart() : line;
  const fields = separator === null ? (line.match(/[ \t]*[^ \t]+|[ \t]+$/g) ?? []) : line.split(separator);
  const between = separator ?? "";
  const last = key.to === 0 ? fields.length : key.to;
  const keyFields = fields.slice(key.from - 1, last);
  if (key.to !== 0 && key.toChar > 0 && fields.length >= key.to)
    keyFields[keyFields.length - 1] = keyFields.at(-1)?.slice(0, key.toChar) ?? "";
  const text = keyFields.join(between);
  return (flags.includes("b") ? text.trimStart() : text).slice(key.fromChar - 1);
}

function makeComparer(flags: string): (a: string, b: string) => number {
  const by = (value: (text: string) => number) => (a: string, b: string) => value(a) - value(b);
  if (flags.includes("h")) return by(parseHumanSize);
  if (flags.includes("g")) return by((text) => (Number.isNaN(Number.parseFloat(text)) ? -Infinity : Number.parseFloat(text)));
  if (flags.includes("n")) return by((text) => Number(/^\s*(-?\d*(?:\.\d+)?)/.exec(text)?.[1] ?? 0) || 0);
  if (flags.includes("M")) return by((text) => MONTHS.indexOf(text.trim().slice(0, 3).toUpperCase()));
  if (flags.includes("V")) return byVersion;
  const normalize = (text: string) => {
    const plain = flags.includes("d") ? text.replace(/[^\p{L}\p{N} \t]/gu, "") : text;
    return flags.includes("f") ? plain.toUpperCase() : plain;
  };
  return (a, b) => byBytes(normalize(a), normalize(b));
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

/** Compares in the order of UTF-8, which differs from that of UTF-16. */
function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (x === y) continue;
    const isPair = (code: number) => code >= 0xd800 && code <= 0xdfff;
    return isPair(x) === isPair(y) ? x - y : isPair(x) ? 1 : -1;
  }
  return a.length - b.length;
}

function parseHumanSize(text: string): number {
  const [, number = "0", unit = ""] = /^\s*(-?\d*(?:\.\d+)?)([KMGTPE]?)/i.exec(text) ?? [];
  // The unit counts more than the number.
  return Math.sign(Number(number) || 0) * ("_KMGTPE".indexOf(unit.toUpperCase() || "_") * 1e9 + Math.abs(Number(number) || 0));
}

function byVersion(a: string, b: string): number {
  const [left, right] = [a.match(/\d+|\D+/g) ?? [], b.match(/\d+|\D+/g) ?? []];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [x, y] = [left[at]!, right[at]!];
    const isNumbers = /^\d/.test(x) && /^\d/.test(y);
    const difference = isNumbers ? Number(x) - Number(y) : byBytes(x, y);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function checkOrder(lines: readonly string[], order: Order, flags: string, path: string) {
  const at = lines.findIndex((line, index) => {
    if (index === 0) return false;
    const difference = order.full(lines[index - 1]!, line);
    return difference > 0 || (flags.includes("u") && difference === 0);
  });
  if (at === -1) return "";
  return { stderr: flags.includes("C") ? "" : `sort: ${path}:${at + 1}: disorder: ${lines[at]}\n`, exitCode: 1 };
}

function shuffle(lines: readonly string[]): string[] {
  const numbers = crypto.getRandomValues(new Uint32Array(Math.min(lines.length, 16_384)));
  return lines
    .map((line, at) => ({ line, rank: numbers[at % numbers.length]! }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ line }) => line);
}

function failInvalid(flag: string): never {
  throw new CommandError(`invalid option: ${flag}`, 2);
}
