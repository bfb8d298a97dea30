// A word of a command, as much of it as can be known before the command runs.

import type { Part, Word } from "../shell/syntax.ts";

export type Known = {
  /** What the word is, or null where it is made while the command runs. */
  text: string | null;
  /** As much of its beginning as is known. */
  start: string;
  /** All of it in each way it may turn out, with `*` for what is not known. */
  shapes: readonly string[];
  /** Whether it may become several words, or none. */
  isLoose: boolean;
  /** Where not even the beginning is known: the variable it begins with, or "" for anything else but names of files. */
  lead: string | null;
};

/** What a program adds that nobody has written. */
export const ADDED: Known = { text: null, start: "", shapes: ["*"], isLoose: true, lead: "" };

export function known({ parts }: Word): Known {
  let start = "";
  let shapes: readonly string[] = [""];
  let unknown: Known | null = null;
  for (const [at, part] of parts.entries()) {
    const piece = knownPart(part);
    shapes = joined(shapes, piece.shapes);
    if (unknown !== null) continue;
    start += piece.start;
    if (piece.text !== null) continue;
    unknown = { text: null, start, shapes, isLoose: parts.slice(at).some(isLoose), lead: start === "" ? piece.lead : null };
  }
  return unknown === null ? { text: start, start, shapes, isLoose: false, lead: null } : { ...unknown, shapes };
}

const SHAPES_MAX = 32;
/** May be any hidden name, and so a secret: what is said of a word with more shapes than anybody follows. */
const HIDDEN = [".*"];

function joined(starts: readonly string[], ends: readonly string[]): readonly string[] {
  if (starts === HIDDEN || ends === HIDDEN || starts.length * ends.length > SHAPES_MAX) return HIDDEN;
  return ends.length === 1 && starts.length === 1 ? [starts[0]! + ends[0]!] : starts.flatMap((start) => ends.map((end) => start + end));
}

function knownPart(part: Part): Known {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "Escaped":
      return plain(part.value);
    case "DoubleQuoted":
      return known({ type: "Word", parts: part.parts });
    case "TildeExpansion":
      return plain(`~${part.user ?? ""}`);
    case "ParameterExpansion":
      return part.operation === null
        ? { ...ADDED, lead: part.parameter }
        : { ...ADDED, shapes: bounded(["*", ...wordsIn(part.operation).flatMap((word) => known(word).shapes)]) };
    // Names of files that are there.
    case "Glob":
      return { ...ADDED, shapes: globShapes(part.pattern), lead: null };
    case "BraceExpansion":
      return {
        ...ADDED,
        shapes: bounded(part.items.flatMap((item) => (item.type === "Word" ? known(item.word).shapes : rangeShapes(item.start, item.end)))),
      };
    default:
      return ADDED;
  }
}

function bounded(shapes: readonly string[]): readonly string[] {
  return shapes.length > SHAPES_MAX || shapes.includes(HIDDEN[0]!) ? HIDDEN : [...new Set(shapes)];
}

/** Words that an expansion may put in the place of a variable: its default, or what replaces a part of it. */
function wordsIn(operation: object): Word[] {
  const { word, replacement, innerOp } = operation as { word?: Word | null; replacement?: Word | null; innerOp?: object | null };
  return [word, replacement].filter((one) => one !== null && one !== undefined).concat(innerOp ? wordsIn(innerOp) : []);
}

/** `[.s]` is one of these, and `@(a|b)` too. */
function globShapes(pattern: string): readonly string[] {
  const chosen = /^\[([^!^\]\\:-]{1,8})\]$/.exec(pattern)?.[1]?.split("");
  const either = /^[@?+*]\(([^()]*)\)$/.exec(pattern)?.[1]?.split("|");
  if (either !== undefined) return bounded(["", ...either.map((one) => one.replaceAll("?", "*")), "*"]);
  // Any other set of letters may hold the dot that hides a name.
  return chosen ?? (pattern.startsWith("[") ? ["*", "."] : ["*"]);
}

/** From one letter to another there may be a dot as well. */
function rangeShapes(start: string | number, end: string | number): string[] {
  return typeof start === "number" && typeof end === "number" ? ["*"] : ["*", "."];
}

function plain(text: string): Known {
  return { text, start: text, shapes: [text], isLoose: false, lead: null };
}

function isLoose({ type }: Part): boolean {
  return type === "ParameterExpansion" || type === "CommandSubstitution" || type === "BraceExpansion" || type === "ArithmeticExpansion";
}

/** Without its directory, and as a disk without case would find it. */
export function programName(text: string): string {
  return lastName(text)
    .toLowerCase()
    .replace(/\.exe$/, "");
}

/** Another path may be a program somebody wrote a moment ago, and so may another way to write a name. */
export function isUsualProgram(text: string): boolean {
  return /^(?:(?:\/usr(?:\/local)?)?\/s?bin\/|\/opt\/homebrew\/bin\/)?[^/]+$/.test(text) && lastName(text) === programName(text);
}

function lastName(text: string): string {
  return text.slice(text.lastIndexOf("/") + 1);
}
