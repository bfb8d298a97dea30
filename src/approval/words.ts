// A word of a command, as much of it as can be known before the command runs.

import type { Part, Word } from "../shell/syntax.ts";

export type Known = {
  /** What the word is, or null where it is made while the command runs. */
  text: string | null;
  /** As much of its beginning as is known. */
  start: string;
  /** All of it, with `*` for what is not known. */
  shape: string;
  /** Whether it may become several words, or none. */
  isLoose: boolean;
  /** Where not even the beginning is known: the variable it begins with, or "" for anything else but names of files. */
  lead: string | null;
};

/** What a program adds that nobody has written. */
export const ADDED: Known = { text: null, start: "", shape: "*", isLoose: true, lead: "" };

export function known({ parts }: Word): Known {
  let start = "";
  let shape = "";
  let unknown: Known | null = null;
  for (const [at, part] of parts.entries()) {
    const piece = knownPart(part);
    shape += piece.shape;
    if (unknown !== null) continue;
    start += piece.start;
    if (piece.text !== null) continue;
    unknown = { text: null, start, shape, isLoose: parts.slice(at).some(isLoose), lead: start === "" ? piece.lead : null };
  }
  return unknown === null ? { text: start, start, shape, isLoose: false, lead: null } : { ...unknown, shape };
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
      return { ...ADDED, lead: part.operation === null ? part.parameter : "" };
    // Names of files that are there.
    case "Glob":
      return { ...ADDED, lead: null };
    default:
      return ADDED;
  }
}

function plain(text: string): Known {
  return { text, start: text, shape: text, isLoose: false, lead: null };
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
