// Converts a syscall declaration to plain data, and writes the module that holds all of them.

import { z } from "zod";
import type { JsonSchema } from "../../src/lib/schema-text.ts";
import type { SyscallReference } from "../../src/protocol/reference.ts";
import type { Syscall } from "../../src/kernel/calls/define.ts";

export function referenceOf(call: Syscall): SyscallReference {
  const example = { args: call.args.parse(call.example.args), result: call.result.parse(call.example.result) };
  return {
    name: call.name,
    doc: call.doc,
    runs: call.runs,
    does: call.does,
    from: call.from,
    ...(call.only === undefined ? {} : { only: call.only }),
    ...(call.again === undefined ? {} : { again: call.again }),
    grant: call.grant,
    args: schema(call.args, "input"),
    result: schema(call.result, "output"),
    fails: call.fails,
    example,
  };
}

export function referenceModule(reference: readonly SyscallReference[]): string {
  const rows = reference.map((call) => `  ${JSON.stringify(call)},`).join("\n");
  return `// Written by tools/products.ts from the syscall files.\n\nimport type { SyscallReference } from "../protocol/reference.ts";\n\nexport const reference: readonly SyscallReference[] = [\n${rows}\n];\n`;
}

export function schema(type: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(type, { io, unrepresentable: "any" }) as JsonSchema & { $schema?: string };
  return rest;
}
