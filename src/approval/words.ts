// What can be known of a word of a command before the command runs.

import type { Part, Word } from "../shell/syntax.ts";

export type KnownWord = {
  /** The word, or null if it is computed while the command runs. */
  text: string | null;
  /** The known beginning of it. */
  start: string;
  /** Every form it may take, with `*` for unknown parts. */
  shapes: readonly string[];
  /** Whether it may expand to several words, or to none. */
  isLoose: boolean;
  /**
   * If not even the beginning is known: the variable it starts with, or "" for any other expansion. Null for file names from a
   * glob.
   */
  lead: string | null;
};

/** A word that a program adds and that is not in the script. */
export const ADDED: KnownWord = { text: null, start: "", shapes: ["*"], isLoose: true, lead: "" };

export function readWord({ parts }: Word): KnownWord {
  let start = "";
  let patterns: readonly string[] = [""];
  let unknown: KnownWord | null = null;
  for (const [at, part] of parts.entries()) {
    const piece = readPart(part);
    patterns = joinShapes(patterns, piece.shapes);
    if (unknown !== null) continue;
    start += piece.start;
    if (piece.text !== null) continue;
    unknown = { text: null, start, shapes: patterns, isLoose: parts.slice(at).some(isLoose), lead: start === "" ? piece.lead : null };
  }
  return unknown === null ? { text: start, start, shapes: patterns, isLoose: false, lead: null } : { ...unknown, shapes: patterns };
}

const SHAPES_MAX = 32;
/** The shape of a word with too many shapes to follow: it may be any hidden name, and so a secret. */
const HIDDEN = [".*"];

function joinShapes(starts: readonly string[], ends: readonly string[]): readonly string[] {
  if (starts === HIDDEN || ends === HIDDEN || starts.length * ends.length > SHAPES_MAX) return HIDDEN;
  return ends.length === 1 && starts.length === 1 ? [starts[0]! + ends[0]!] : starts.flatMap((start) => ends.map((end) => start + end));
}

function readPart(part: Part): KnownWord {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "Escaped":
      return makeLiteralWord(part.value);
    case "DoubleQuoted":
      return readWord({ type: "Word", parts: part.parts });
    case "TildeExpansion":
      return makeLiteralWord(`~${part.user ?? ""}`);
    case "ParameterExpansion":
      return part.operation === null
        ? { ...ADDED, lead: part.parameter }
        : { ...ADDED, shapes: limitShapes(["*", ...substitutedWordsIn(part.operation).flatMap((word) => readWord(word).shapes)]) };
    // A glob expands to names of existing files.
    case "Glob":
      return { ...ADDED, shapes: globShapes(part.pattern), lead: null };
    case "BraceExpansion":
      return {
        ...ADDED,
        shapes: limitShapes(
          part.items.flatMap((item) => (item.type === "Word" ? readWord(item.word).shapes : rangeShapes(item.start, item.end))),
        ),
      };
    default:
      return ADDED;
  }
}

function limitShapes(shapes: readonly string[]): readonly string[] {
  return shapes.length > SHAPES_MAX || shapes.includes(HIDDEN[0]!) ? HIDDEN : [...new Set(shapes)];
}

/** Words that an expansion may substitute: its default value, or a replacement. */
function substitutedWordsIn(operation: object): Word[] {
  const { word, replacement, innerOp } = operation as { word?: Word | null; replacement?: Word | null; innerOp?: object | null };
  return [word, replacement].filter((one) => one !== null && one !== undefined).concat(innerOp ? substitutedWordsIn(innerOp) : []);
}

/** Alternatives in a glob, such as `[.s]` and `@(a|b)`. */
function globShapes(pattern: string): readonly string[] {
  const chosen = /^\[([^!^\]\\:-]{1,8})\]$/.exec(pattern)?.[1]?.split("");
  const either = /^[@?+*]\(([^()]*)\)$/.exec(pattern)?.[1]?.split("|");
  if (either !== undefined) return limitShapes(["", ...either.map((one) => one.replaceAll("?", "*")), "*"]);
  // Any other character set may contain the dot that hides a file.
  return chosen ?? (pattern.startsWith("[") ? ["*", "."] : ["*"]);
}

/** A range of characters may contain a dot too. */
function rangeShapes(start: string | number, end: string | number): string[] {
  return typeof start === "number" && typeof end === "number" ? ["*"] : ["*", "."];
}

function makeLiteralWord(text: string): KnownWord {
  return { text, start: text, shapes: [text], isLoose: false, lead: null };
}

function isLoose({ type }: Part): boolean {
  return type === "ParameterExpansion" || type === "CommandSubstitution" || type === "BraceExpansion" || type === "ArithmeticExpansion";
}

/** The name without its directory, in lower case as on a file system that ignores case. */
export function programName(text: string): string {
  return baseName(text)
    .toLowerCase()
    .replace(/\.exe$/, "");
}

/** A program at another path may be newly written, and so may one with an unusual spelling. */
export function isUsualProgram(text: string): boolean {
  return /^(?:(?:\/usr(?:\/local)?)?\/s?bin\/|\/opt\/homebrew\/bin\/)?[^/]+$/.test(text) && baseName(text) === programName(text);
}

function baseName(text: string): string {
  return text.slice(text.lastIndexOf("/") + 1);
}
