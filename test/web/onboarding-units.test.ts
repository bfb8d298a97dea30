// What the set-up says about passwords, time zones and keys, without a browser.

import { expect, test } from "vitest";
import { rateStrength } from "../../web/src/onboarding/password-strength.ts";
import { findModelKey } from "../../src/lib/model-key.ts";
import { PLACES } from "../../src/lib/places.ts";
import { findZones, zonesOfPlace } from "../../src/lib/time-zones.ts";
import { isTimezone } from "../../src/lib/timezone.ts";

test.each([
  ["", 0],
  ["short", 0],
  ["       a       ", 0],
  ["password", 1],
  ["password123", 1],
  ["qwerty1234", 1],
  ["aaaaaaaaaaaaaaaa", 1],
  ["12345678901234567890", 1],
  ["adaadaadaada", 1],
  ["Summer2024!", 2],
  ["violet umbrella in march", 2],
  ["correct horse battery staple lamp", 3],
  ["kT7$wq9!Zr2@Lm5", 3],
])("%j has strength %i", (password, level) => {
  expect(rateStrength(password, "ada").level).toBe(level);
});

test.each([
  ["lisb", "Europe/Lisbon"],
  ["San Fran", "America/Los_Angeles"],
  ["munich", "Europe/Berlin"],
  ["são paulo", "America/Sao_Paulo"],
  ["new york", "America/New_York"],
  ["america/new", "America/New_York"],
  ["utc", "UTC"],
])("%j finds its zone first", (typed, zone) => {
  expect(findZones(typed)[0]?.name).toBe(zone);
});

test("an empty or unknown query finds nothing, and no query finds more than eight", () => {
  expect(findZones("  ")).toEqual([]);
  expect(findZones("xyzzy")).toEqual([]);
  expect(findZones("a").length).toBeLessThanOrEqual(8);
});

test.each([
  ["Japan", "Asia/Tokyo"],
  ["portugal", "Europe/Lisbon"],
  ["texas", "America/Chicago"],
  ["porto", "Europe/Lisbon"],
  ["köln", "Europe/Berlin"],
  ["usa", "America/New_York"],
])("%j is found among countries, states and other cities", (typed, zone) => {
  expect(findZones(typed)[0]?.name).toBe(zone);
});

test("every place has a time zone that exists, and a country with several lists them all", () => {
  expect(
    Object.values(PLACES)
      .flat()
      .filter((zone) => !isTimezone(zone)),
  ).toEqual([]);
  expect(zonesOfPlace("the United States")).toContain("America/Los_Angeles");
  expect(zonesOfPlace("Atlantis")).toEqual([]);
});

test.each([
  ["use sk-ant-api03-AbCdEfGhIjK please", { key: "sk-ant-api03-AbCdEfGhIjK", provider: "anthropic" }],
  ["gsk_abcdefghijklmnop", { key: "gsk_abcdefghijklmnop", provider: "groq" }],
  ["AIzaSyA1234567890abcdefghij", { key: "AIzaSyA1234567890abcdefghij", provider: "google" }],
  ["sk-proj-abcdef123456", { key: "sk-proj-abcdef123456", provider: "openai" }],
  ["sk-0123456789abcdef", { key: "sk-0123456789abcdef", provider: null }],
  ["my API key is abc-123-def", { key: "abc-123-def", provider: null }],
  ["I have an Anthropic key", null],
  ["my password is hunter2", null],
  ["the key is under the mat", null],
  ["risk-averse-people", null],
])("the key in %j", (text, found) => expect(findModelKey(text)).toEqual(found));
