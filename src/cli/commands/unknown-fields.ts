// Finds fields of a call's arguments that its schema does not have. The gateway drops them silently, so the CLI warns about them.

import type { JsonSchema } from "../../lib/schema-text.ts";
import { findSimilar } from "../terminal/suggest.ts";

/** `field` is a path from the arguments down; `meant` is a known field there with a similar name. */
export type UnknownField = { field: string; meant: string | null };

export function findUnknownFields(schema: JsonSchema, value: unknown, path: readonly string[] = []): UnknownField[] {
  const options = schema.anyOf ?? schema.oneOf;
  // Of several shapes, the one with the fewest unknown fields is assumed.
  if (options !== undefined)
    return options.map((option) => findUnknownFields(option, value, path)).sort((a, b) => a.length - b.length)[0] ?? [];
  if (Array.isArray(value)) return value.flatMap((item, at) => findUnknownFields(schema.items ?? {}, item, [...path, String(at)]));
  if (typeof value !== "object" || value === null || schema.type !== "object") return [];
  const { properties = {}, additionalProperties: others } = schema;
  return Object.entries(value).flatMap(([name, inner]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) return findUnknownFields(known, inner, [...path, name]);
    if (others === true || typeof others === "object") return findUnknownFields(others === true ? {} : others, inner, [...path, name]);
    return { field: [...path, name].join("."), meant: findSimilar(name, Object.keys(properties))[0] ?? null };
  });
}
