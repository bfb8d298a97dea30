// Random cron expressions: every form that is accepted, in every field.

import type { Random } from "../crash/random.ts";

const MONTHS = ["JAN", "feb", "Mar", "APR", "may", "Jun", "JUL", "aug", "Sep", "OCT", "nov", "Dec"];
const WEEKDAYS = ["SUN", "mon", "Tue", "WED", "thu", "Fri", "SAT"];

export function makeExpression(random: Random): string {
  const month = random.chance(1 / 3) ? makeField(random, 1, 12, MONTHS) : "*";
  const day = random.chance(0.5) ? makeField(random, 1, 31) : "*";
  const weekday = random.chance(0.5) ? makeField(random, 0, 7, WEEKDAYS) : "*";
  return [makeField(random, 0, 59), makeField(random, 0, 23), day, month, weekday].join(" ");
}

function makeField(random: Random, min: number, max: number, names: readonly string[] = []): string {
  return Array.from({ length: random.chance(0.25) ? random.int(1, 5) : 1 }, () => makeItem(random, min, max, names)).join(",");
}

function makeItem(random: Random, min: number, max: number, names: readonly string[]): string {
  const step = random.int(1, max);
  const number = random.int(min, max);
  const name = (random.chance(1 / 3) ? random.pick(names) : undefined) ?? String(number);
  const until = random.int(number, max);
  switch (random.int(0, 7)) {
    case 0:
      return "*";
    case 1:
      return `*/${step}`;
    case 2:
      return `${number}-${until}`;
    case 3:
      return `${number}-${until}/${step}`;
    case 4:
      return `${number}/${step}`;
    default:
      return name;
  }
}
