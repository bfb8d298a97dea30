// Reads where a person lives, for the time zone: "I live in Porto", "from Lisbon", "my time zone is Asia/Tokyo", or a bare place.

import { cityOf, zonesOfPlace } from "../../../lib/time-zones.ts";
import { isTimezone } from "../../../lib/timezone.ts";
import { type Reading, type Sentence, setField } from "./sentence.ts";

const PLACE = String.raw`([\p{L}][\p{L}\d'’./_+-]*(?:\s+[\p{L}][\p{L}'’./_-]*){0,3})`;
/** The person says where they are. */
const STATED = [
  new RegExp(
    String.raw`\b(?:i|we)(?:['’]?m|['’]?re)?(?:\s+(?:currently|now|still|actually|mostly|also))*(?:\s+(?:live|work|am|are|stay|come|based|located|living|coming))*\s+(?:in|near|from|around|close to|outside(?: of)?)\s+${PLACE}`,
    "giu",
  ),
  new RegExp(String.raw`\b(?:living|based|located)\s+(?:in|near|around)\s+${PLACE}`, "giu"),
  new RegExp(String.raw`\b(?:home is|my (?:city|home|home ?town|town|country|place|location) is)\s+(?:in\s+)?${PLACE}`, "giu"),
  new RegExp(String.raw`\btime ?zone\s*(?:(?:is|of|should be|to|in|for|like|=|:)\s*)*${PLACE}`, "giu"),
  new RegExp(String.raw`^\s*(?:in|from|near)\s+${PLACE}`, "giu"),
];
/** "Ada from Lisbon", ", from Lisbon": only a place that is written like one. */
const APART = new RegExp(
  String.raw`(?:,|\bam\s+\p{Lu}\S*|['’]m\s+\p{Lu}\S*|\bis\s+\p{Lu}\S*|\bme\s+\S+|\p{Lu}\S*\s+\p{Lu}\S*),?\s+(?:[Ff]rom|[Ii]n|[Ll]iving in)\s+(\p{Lu}[\p{L}'’./_-]*(?:\s+[\p{L}][\p{L}'’./_-]*){0,3})`,
  "gu",
);
/** Places that are more often an exclamation, a greeting or a wish when they stand alone. */
const NO_BARE_PLACES = new Set([
  "nice",
  "reading",
  "mobile",
  "split",
  "sale",
  "male",
  "easter",
  "center",
  "central",
  "eastern",
  "pacific",
  "zulu",
  "cork",
  "rio",
]);
const WORDS_MAX = 4;

export function readPlace({ text, topic }: Sentence): Reading | null {
  const places = [...STATED, APART].flatMap((pattern) => [...text.matchAll(pattern)]).filter(({ index }) => !isDenied(text, index));
  for (const [, place] of places) {
    const known = findKnownPlace(place!);
    if (known !== null) return makeReading(known.place, known.zones);
  }
  for (const [whole, place] of places) {
    const unknown = findUnknownPlace(whole, place!);
    if (unknown !== null) return makeUnknownReading(unknown);
  }
  const bare = /^\s*["“']?([\p{L}][\p{L}\d'’./_+ -]{1,40}?)["”']?\s*[.!]?\s*$/u.exec(text)?.[1];
  // After the question for a name, "Sydney" is one.
  if (bare === undefined || (topic === "name" && !/[\s/]/.test(bare))) return null;
  if (NO_BARE_PLACES.has(bare.toLowerCase()) && topic !== "place") return null;
  const zones = findZonesOf(bare);
  const isWrittenLikePlace = /^\p{Lu}|[\s/]/u.test(bare);
  if (zones.length > 0) return topic === "place" || isWrittenLikePlace ? makeReading(bare, zones) : null;
  return topic === "place" && /^\p{Lu}[^?]*$/u.test(bare) ? makeUnknownReading(bare) : null;
}

/** The longest beginning that is the name of a place: "Porto with my cat" is Porto. */
function findKnownPlace(text: string): { place: string; zones: string[] } | null {
  const words = text
    .replace(/[.'’/-]+$/u, "")
    .split(/\s+/)
    .slice(0, WORDS_MAX);
  for (let count = words.length; count > 0; count -= 1) {
    const place = words
      .slice(0, count)
      .join(" ")
      .replace(/[.,]+$/, "");
    const zones = findZonesOf(place);
    // "I am nice": places that are common words must be written like places.
    if (zones.length > 0 && (!NO_BARE_PLACES.has(place.toLowerCase()) || /^\p{Lu}/u.test(place))) return { place, zones };
  }
  return null;
}

/** Only "live in" and the like announce a place for certain: "I work in Finance" and "I'm in Love" do not. */
function findUnknownPlace(text: string, place: string): string | null {
  const word = /^\p{Lu}[\p{L}'’-]*(?:\s+\p{Lu}[\p{L}'’-]*)*/u.exec(place)?.[0];
  return word !== undefined && /\b(?:live|living|based|located|from|time ?zone)\b/iu.test(text) ? word : null;
}

function findZonesOf(place: string): string[] {
  const zones = zonesOfPlace(place);
  if (zones.length > 0) return zones;
  const name = place.replaceAll(/\s+/g, "_");
  return name.includes("/") && isTimezone(name) ? [name] : [];
}

/** "I do not live in Porto" matches nothing here already. */
function isDenied(text: string, at: number): boolean {
  return /(?:\bnot|\bnever|n['’]t|\bdont)\s+(?:\w+\s+){0,2}$/iu.test(text.slice(0, at));
}

function makeReading(place: string, zones: readonly string[]): Reading {
  const [zone] = zones;
  if (zones.length === 1) return { says: `The time zone is ${zone}.`, patches: [setField("system.timezone", zone!)] };
  const cities = zones.slice(0, 4).map(cityOf).join(", ");
  return {
    says: `There are several time zones in ${place}. Which city shares yours: ${cities}?`,
    patches: [],
    focus: "system.timezone",
    asks: "place",
  };
}

function makeUnknownReading(place: string): Reading {
  return { says: `I do not know where ${place} is. Which large city is near you?`, patches: [], focus: "system.timezone", asks: "place" };
}
