// Options of commands: `--name value`, `--name=value`, and flags without a value. Words after -- are not options.

import { CommandError } from "./command.ts";

export type OptionNames = { valued: readonly string[]; flags: readonly string[]; short?: Readonly<Record<string, string>> };

export class Options {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The last value that was given. */
  get(name: string): string | undefined {
    return this.#values.get(name)?.at(-1);
  }

  list(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }
}

/** `after` has the words after --, or is null if there is none. */
export type ParsedOptions = { words: string[]; after: string[] | null; options: Options };

/** `short` maps single letters to names of options. Without it, words such as -5 are no options. */
export function parseOptions(args: readonly string[], { valued, flags, short }: OptionNames): ParsedOptions {
  const words: string[] = [];
  const values = new Map<string, string[]>();
  const options = new Options(values);
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (arg === "--") return { words, after: args.slice(at + 1), options };
    if (!arg.startsWith(short === undefined ? "--" : "-") || arg === "-") {
      words.push(arg);
      continue;
    }
    const [name, inline] = nameOf(arg, short);
    if (flags.includes(name) && inline === undefined) values.set(name, []);
    else if (valued.includes(name)) values.set(name, [...(values.get(name) ?? []), inline ?? args[++at] ?? failMissingValue(arg)]);
    else throw new CommandError(`unknown option ${arg}`, 2);
  }
  return { words, after: null, options };
}

function nameOf(arg: string, short: Readonly<Record<string, string>> = {}): [name: string, inline: string | undefined] {
  if (!arg.startsWith("--")) return [short[arg.slice(1)] ?? "", undefined];
  const [name = "", inline] = arg.slice(2).split(/=([^]*)/, 2);
  return [name, inline];
}

function failMissingValue(arg: string): never {
  throw new CommandError(`${arg} needs a value`, 2);
}

/** JSON that a person typed as the value of an option. */
export function parseJsonOption(name: string, json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new CommandError(`--${name} is not valid JSON: ${error instanceof Error ? error.message : String(error)}`, 2);
  }
}

/** `--arg key=value`, repeated, as an object of strings. */
export function parsePairs(name: string, pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new CommandError(`--${name} takes key=value, not ${pair}`, 2);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** 60s, 5m or 2h, in milliseconds. A number without a unit is milliseconds. */
export function parseDuration(text: string): number {
  const [, amount, unit = "ms"] = /^(\d+)(ms|s|m|h|d)?$/.exec(text) ?? [];
  if (amount === undefined) throw new CommandError(`invalid duration: ${text}. Use one such as 60s or 5m`, 2);
  return Number(amount) * UNIT_MS[unit]!;
}

/** An option's value under the name of an argument; nothing if the option was not given. */
export function textOption(options: Options, name: string, as: string): Record<string, string> {
  const value = options.get(name);
  return value === undefined ? {} : { [as]: value };
}
