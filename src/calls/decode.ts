// Checks arguments against their schema. Drops unknown fields before a body sees them, and refuses an invalid one with a message
// that names it. A message of the schema itself takes precedence over the phrase made here.

import type { z } from "zod";
import { fail } from "../lib/sys-error.ts";

export function decodeArgs<T>(schema: z.ZodType<T>, args: Record<string, unknown>): T {
  const parsed = schema.safeParse(args, OPTIONS);
  if (parsed.success) return parsed.data;
  fail(400, parsed.error.issues[0]?.message ?? "Invalid arguments");
}

const OPTIONS = { error: describeIssue };

function describeIssue(issue: z.core.$ZodRawIssue): string {
  const field = issue.path?.length ? issue.path.join(".") : "args";
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? `${field} is required` : `${field} must be ${withArticle(String(issue.expected))}`;
    case "invalid_value":
      return issue.input === undefined ? `${field} is required` : `${field} must be one of: ${(issue.values as unknown[]).join(", ")}`;
    case "too_small":
      return issue.origin === "string" && issue.minimum === 1
        ? `${field} is required`
        : `${field} must be at least ${String(issue.minimum)}${unitSuffix(issue.origin)}`;
    case "too_big":
      return `${field} must be at most ${String(issue.maximum)}${unitSuffix(issue.origin)}`;
    default:
      return `${field} is not valid`;
  }
}

function withArticle(noun: string): string {
  const plain = noun === "int" ? "integer" : noun;
  return `${/^[aeiou]/.test(plain) ? "an" : "a"} ${plain}`;
}

function unitSuffix(origin: unknown): string {
  if (origin === "string") return " characters";
  return origin === "array" ? " items" : "";
}
