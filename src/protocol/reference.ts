// A syscall as plain data: everything about it except its implementation. `gsv help` and the reference pages read it.

import type { JsonSchema } from "../lib/schema-text.ts";

export type SyscallReference = {
  name: string;
  doc: string;
  runs: string;
  does: "read" | "write" | "effect";
  from: readonly string[];
  only?: "processes" | "people";
  again?: "safe" | "keyed";
  grant: readonly string[];
  args: JsonSchema;
  result: JsonSchema;
  fails: Record<string, string>;
  example: { args: unknown; result: unknown };
};
