// Arguments of every syscall, generated from its schema: valid ones are accepted without unknown fields, invalid ones are refused with
// 400 and the name of the field, and nothing that a caller claims about its own authority reaches the body of a call.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonSchema } from "../../lib/schema-text.ts";
import { SysError } from "../../lib/sys-error.ts";
import { kernelCalls } from "./table.ts";
import { decodeArgs } from "../../calls/decode.ts";

const AUTHORITY = {
  role: "root",
  capabilities: ["*"],
  approved: true,
  isRoot: true,
  gids: [0],
  caller: { uid: 0 },
  origin: "user",
  pid: 1,
};

describe.each(kernelCalls.map((call) => [call.name, call] as const))("%s", (_name, call) => {
  const schema = z.toJSONSchema(call.args, { io: "input", unrepresentable: "any" }) as JsonSchema;
  const fields = Object.entries(schema.properties ?? {});
  const required = schema.required ?? [];
  const valid = generateValues(schema, call.example.args) as fc.Arbitrary<Record<string, unknown>>;

  it("accepts its own example and what its schema describes", () => {
    decodeArgs(call.args, call.example.args);
    fc.assert(
      fc.property(valid, (args) => {
        const decoded = decodeArgs(call.args, args);
        for (const name of Object.keys(decoded)) expect(schema.properties).toHaveProperty(name);
      }),
    );
  });

  it("drops unknown fields, whatever authority they claim", () => {
    fc.assert(
      fc.property(valid, fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), (args, extra) => {
        const unknown = Object.entries({ ...extra, ...AUTHORITY, ...(fields.some(([name]) => name === "uid") ? {} : { uid: 0 }) });
        const foreign = unknown.filter(([name]) => !fields.some(([field]) => field === name) && name !== "__proto__");
        expect(decodeArgs(call.args, { ...Object.fromEntries(foreign), ...args })).toEqual(decodeArgs(call.args, args));
      }),
    );
  });

  it("names a missing field in the error", () => {
    for (const name of required) {
      const { [name]: _, ...rest } = call.example.args;
      expect(readRefusal(call.args, rest), name).toMatch(mentions(name));
    }
  });

  it("names a field of the wrong type in the error", () => {
    for (const [name, field] of fields) {
      for (const wrong of [{ a: 1 }, [{}], 7.5, true, null, "\u0000text"]) {
        if (fits(field, wrong)) continue;
        expect(readRefusal(call.args, { ...call.example.args, [name]: wrong }), `${name}: ${JSON.stringify(wrong)}`).toMatch(
          mentions(name),
        );
      }
    }
  });

  it("accepts text at its limit, and names the field in the error above it", () => {
    for (const [name, field] of fields) {
      if (field.type !== "string" || typeof field.maxLength !== "number") continue;
      const of = (length: number) => ({ ...call.example.args, [name]: "a".repeat(length) });
      if (field.pattern === undefined || patternOf(field).test("aa")) decodeArgs(call.args, of(field.maxLength));
      expect(readRefusal(call.args, of(field.maxLength + 1)), name).toMatch(mentions(name));
    }
  });

  it("refuses arguments that are not an object", () => {
    for (const wrong of [[], "text", 7, null] as unknown[]) {
      expect(() => decodeArgs(call.args, wrong as Record<string, unknown>), JSON.stringify(wrong)).toThrow(SysError);
    }
  });
});

it("names the path of a problem in nested arguments", () => {
  const args = z.object({ outer: z.object({ list: z.array(z.string().max(3)) }) });
  expect(readRefusal(args, { outer: { list: ["abc", 7] } })).toBe("outer.list.1 must be a string");
  expect(readRefusal(args, { outer: { list: ["abcd"] } })).toBe("outer.list.0 must be at most 3 characters");
  expect(readRefusal(args, { outer: {} })).toBe("outer.list is required");
  expect(readRefusal(z.object({ many: z.array(z.int()).max(1) }), { many: [1, 2] })).toBe("many must be at most 1 items");
});

function readRefusal(schema: z.ZodType, args: Record<string, unknown>): string {
  try {
    decodeArgs(schema, args);
  } catch (error) {
    expect(error).toBeInstanceOf(SysError);
    expect((error as SysError).code).toBe(400);
    return (error as SysError).message;
  }
  throw new Error(`accepted: ${JSON.stringify(args).slice(0, 300)}`);
}

function mentions(field: string): RegExp {
  return new RegExp(`\\b${field}\\b`);
}

/** Generates values of a schema. Text with a pattern is taken from the example, because a pattern is not enough to generate it. */
function generateValues(schema: JsonSchema, example: unknown): fc.Arbitrary<unknown> {
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return fc.oneof(...options.map((option) => generateValues(option, example)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => generateValues({ ...schema, type }, example)));
  switch (schema.type) {
    case "object": {
      const given = (example ?? {}) as Record<string, unknown>;
      const entries = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, generateValues(field, given[name])] as const);
      return fc.record(Object.fromEntries(entries), { requiredKeys: schema.required ?? [] });
    }
    case "array":
      return fc.array(generateValues(schema.items ?? {}, undefined), {
        minLength: Number(schema.minItems ?? 0),
        maxLength: Math.min(5, Number(schema.maxItems ?? 5)),
      });
    case "integer":
      return fc.integer({ min: Number(schema.minimum ?? 0), max: Number(schema.maximum ?? 1e9) });
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "string":
      if (schema.pattern !== undefined) return fc.constant(example);
      // Trimmed text must not become empty.
      return fc
        .string({ minLength: Number(schema.minLength ?? 0), maxLength: Math.min(40, Number(schema.maxLength ?? 40)) })
        .map((text) => `x${text}`.slice(0, 40));
    default:
      return fc.jsonValue();
  }
}

function patternOf(schema: JsonSchema): RegExp {
  return new RegExp(typeof schema.pattern === "string" ? schema.pattern : "", "u");
}

function fits(schema: JsonSchema, value: unknown): boolean {
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return options.some((option) => fits(option, value));
  if (schema.enum !== undefined) return schema.enum.includes(value);
  if (Array.isArray(schema.type)) return schema.type.some((type) => fits({ ...schema, type }, value));
  switch (schema.type) {
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value) && (schema.required ?? []).length === 0;
    case "array":
      return Array.isArray(value) && value.every((item) => fits(schema.items ?? {}, item));
    case "string":
      return typeof value === "string" && (schema.pattern === undefined || patternOf(schema).test(value));
    case "number":
    case "integer":
      return typeof value === "number" && (schema.type === "number" || Number.isInteger(value));
    case "boolean":
      return typeof value === "boolean";
    case "null":
      return value === null;
    default:
      // Without a type, anything is valid.
      return true;
  }
}
