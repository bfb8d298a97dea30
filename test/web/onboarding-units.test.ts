// What the set-up says about passwords and time zones, without a browser.

import { expect, test } from "vitest";
import { rateStrength } from "../../web/src/onboarding/password-strength.ts";
import { findZones } from "../../web/src/onboarding/time-zones.ts";

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
