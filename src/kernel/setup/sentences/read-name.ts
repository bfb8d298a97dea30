// Reads what a person wants to be called: "call me ada", "I'm Ada Lovelace", or a bare "Ada" as the answer to the question.

import { NAME } from "../../../lib/name.ts";
import { zonesOfPlace } from "../../../lib/time-zones.ts";
import { findMention } from "./read-model.ts";
import { type Reading, type Sentence, setField } from "./sentence.ts";

/** A given name, perhaps with the family name. */
const WORDS = String.raw`[\p{L}_][\p{L}\d_'’-]*(?:\s+\p{Lu}[\p{L}'’-]*){0,3}`;
const CAPITALIZED = String.raw`\p{Lu}[\p{L}'’-]*(?:\s+\p{Lu}[\p{L}'’-]*){0,3}`;
/** What follows is a name however it is written. */
const EXPLICIT = new RegExp(
  String.raw`\b(?:[Cc]all me|(?:my|the) (?:user ?name|name|login)(?: is| should be| will be|:|'s|’s)|[Uu]ser ?name(?: is| should be|:)?|[Nn]ame me|[Ii] am called|[Ii]['’]?m called|[Ii] go by|[Nn]ame:|[Mm]y (?:user ?name|name)(?: is| should be|:|'s|’s))\s*["“']?(${WORDS})`,
  "u",
);
/** What follows is a name only if it is written like one: "I'm Ada", not "I'm tired". */
const INTRODUCED = new RegExp(String.raw`\b(?:[Ii]['’]?m|[Ii] am|[Tt]his is|[Ii]t['’]?s me,?)\s+(${CAPITALIZED})`, "u");
const BARE = new RegExp(String.raw`^\s*["“']?(${CAPITALIZED}|[\p{L}_][\p{L}\d_-]{1,31})["”']?\s*[.!]?\s*$`, "u");

/** Words that follow "call me" or "I am", or answer a question, and are no names. */
const NO_NAMES = new Set(
  `a an the and or not no yes yeah yep nope ok okay hi hello hey hallo hola moin yo thanks thank please sorry help what why how who where when which
  whatever anything something nothing nobody none anyone someone everything sure cool fine good great nice well better maybe later now back soon
  again tomorrow today when if crazy old new here there test testing start stop quit exit skip next continue cancel done ready go review finish
  from in at on of with by to for my your me you it is am are be was just only so very really still also too idk dunno demo default admin
  administrator root user username name password key model ai agent agents guide gsv ollama claude openai anthropic gemini google lol hmm um
  developer engineer student teacher german french english american portuguese spanish italian british dutch polish indian chinese japanese
  cheaper free safe lost confused tired happy sad hungry busy unsure undecided first second last time zone settings setup machine laptop`.split(
    /\s+/,
  ),
);
const CHARS_MAX = 32;

export function readName({ text, topic }: Sentence): Reading | null {
  const found = findName(text) ?? (topic === "name" ? findBareName(text) : null);
  if (found === null) return null;
  const value = makeUsername(found);
  if (value === null) return null;
  if (value === "root")
    return {
      says: "root is the administrator's name. What should I call you instead?",
      patches: [],
      focus: "account.username",
      asks: "name",
    };
  return { says: `Your name here is ${value}.`, patches: [setField("account.username", value)] };
}

function findName(text: string): string | null {
  const explicit = EXPLICIT.exec(text);
  if (explicit !== null) return isDenied(text, explicit.index) ? null : explicit[1]!;
  const introduced = INTRODUCED.exec(text);
  if (introduced === null || isDenied(text, introduced.index)) return null;
  // "I am German", "I'm Portuguese", "I'm OK" are written like names.
  return zonesOfPlace(introduced[1]!).length > 0 ? null : introduced[1]!;
}

/** One word, or several if they are written like a name. A place of several words is a place, and a provider a provider. */
function findBareName(text: string): string | null {
  const bare = BARE.exec(text)?.[1];
  if (bare === undefined || findMention(bare) !== null) return null;
  return bare.includes(" ") && zonesOfPlace(bare).length > 0 ? null : bare;
}

function isDenied(text: string, at: number): boolean {
  return /(?:\bnot|\bnever|n['’]t|\bdont)\s+(?:\w+\s+)?$/iu.test(text.slice(0, at));
}

/** The given name, in the characters that user names may have; null if nothing of it can be one. */
function makeUsername(found: string): string | null {
  const first = found
    .trim()
    .split(/\s+/)[0]!
    .replace(/['’].*$/u, "");
  if (NO_NAMES.has(first.toLowerCase()) && first.toLowerCase() !== "root") return null;
  const value = first
    .replaceAll("ß", "ss")
    .replaceAll(/ø/gi, "o")
    .replaceAll(/ł/gi, "l")
    .replaceAll(/æ/gi, "ae")
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, "")
    .replace(/^[^a-z_]+/, "")
    .slice(0, CHARS_MAX);
  return NAME.test(value) ? value : null;
}
