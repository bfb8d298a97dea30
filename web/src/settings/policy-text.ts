// A policy as the text that is stored, one rule on a line.

import type { Policy } from "../../../src/approval/policy.ts";
import { compileSwitches, type ReadSwitches, readSwitches, type Switches } from "../../../src/approval/switches.ts";

export function formatSwitches(switches: Switches): string {
  return formatPolicy(compileSwitches(switches));
}

/** Null if the text is not a policy that switches can express. */
export function parseSwitches(text: string): ReadSwitches | null {
  try {
    return readSwitches(JSON.parse(text));
  } catch {
    return null;
  }
}

function formatPolicy({ default: otherwise, rules }: Policy): string {
  const lines = rules.map((rule) => `    ${JSON.stringify(rule)}`);
  return `{\n  "default": ${JSON.stringify(otherwise)},\n  "rules": [\n${lines.join(",\n")}\n  ]\n}`;
}
