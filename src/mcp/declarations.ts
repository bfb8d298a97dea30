// TypeScript declarations of the functions that call MCP tools, for models. The schemas are text of strangers: depth, references and
// length are bounded, and no text can end a comment or a string.

import type { ScriptFunction } from "../ports/sandbox.ts";

type Schema = Record<string, unknown>;

const DEPTH_MAX = 8;
const PROPERTIES_MAX = 60;
const CHOICES_MAX = 40;
const DESCRIPTION_CHARS_MAX = 400;
/** Characters of one type: beyond that it is unknown. */
const TYPE_CHARS_MAX = 4_000;

const LEFT_OUT = "// More functions are left out: mcpTools lists them all.";

/** Whole functions, as many as fit; then a comment says that some are missing. */
export function declareFunctions(functions: readonly ScriptFunction[], charsMax = Infinity): string {
  const used = new Set<string>();
  const texts: string[] = [];
  let chars = 0;
  for (const one of functions) {
    const text = declareFunction(one, pickTypeName(one.functionName, used));
    chars += text.length + 1;
    if (chars > charsMax) return [...texts, LEFT_OUT].join("\n");
    texts.push(text);
  }
  return texts.join("\n");
}

function declareFunction(
  { functionName, serverName, toolName, description, inputSchema, outputSchema }: ScriptFunction,
  type: string,
): string {
  const isRequired = Array.isArray(inputSchema?.required) && inputSchema.required.length > 0;
  const input = inputSchema === null ? "{ [key: string]: unknown }" : toType(inputSchema);
  const about = [description ?? "", `(${toolName} of ${serverName})`].filter((part) => part !== "").join(" ");
  return [
    `type ${type}Input = ${input};`,
    `type ${type}Output = ${outputSchema === null ? "unknown" : toType(outputSchema)};`,
    comment(about),
    `declare function ${functionName}(input${isRequired ? "" : "?"}: ${type}Input): Promise<${type}Output>;`,
    "",
  ].join("\n");
}

function pickTypeName(functionName: string, used: Set<string>): string {
  const words = functionName.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const pascal = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("") || "Tool";
  const base = /^\d/.test(pascal) ? `Mcp${pascal}` : pascal;
  let name = base;
  for (let count = 2; used.has(name); count++) name = `${base}${count}`;
  used.add(name);
  return name;
}

function toType(root: Schema): string {
  const text = new TypeWriter(root).write(root, 0, new Set());
  return text.length > TYPE_CHARS_MAX ? "{ [key: string]: unknown }" : text;
}

class TypeWriter {
  readonly #root: Schema;
  #nodes = 0;

  constructor(root: Schema) {
    this.#root = root;
  }

  /** `within` are the references that are being resolved. */
  write(schema: unknown, depth: number, within: ReadonlySet<string>): string {
    if (!isSchema(schema) || depth > DEPTH_MAX || ++this.#nodes > 500) return "unknown";
    const nullable = schema.nullable === true ? " | null" : "";
    return `${this.#writePlain(schema, depth, within)}${nullable}`;
  }

  #writePlain(schema: Schema, depth: number, within: ReadonlySet<string>): string {
    if (typeof schema.$ref === "string") {
      const found = within.has(schema.$ref) ? undefined : this.#resolve(schema.$ref);
      return found === undefined ? "unknown" : this.write(found, depth + 1, new Set([...within, schema.$ref]));
    }
    const nested = (each: unknown) => this.write(each, depth + 1, within);
    for (const key of ["anyOf", "oneOf"]) {
      const choices = schema[key];
      if (Array.isArray(choices) && choices.length > 0) return unite(choices.slice(0, CHOICES_MAX).map(nested));
    }
    if (Array.isArray(schema.allOf) && schema.allOf.length > 0)
      return schema.allOf
        .slice(0, CHOICES_MAX)
        .map((each) => parenthesize(nested(each)))
        .join(" & ");
    if (Array.isArray(schema.enum)) return unite(schema.enum.slice(0, CHOICES_MAX).map(literal));
    if (schema.const !== undefined) return literal(schema.const);
    if (Array.isArray(schema.type))
      return unite(schema.type.slice(0, CHOICES_MAX).map((type) => this.#writeOf({ ...schema, type }, depth, within)));
    return this.#writeOf(schema, depth, within);
  }

  #writeOf(schema: Schema, depth: number, within: ReadonlySet<string>): string {
    switch (schema.type ?? (isSchema(schema.properties) ? "object" : undefined)) {
      case "string":
        return "string";
      case "number":
      case "integer":
        return "number";
      case "boolean":
        return "boolean";
      case "null":
        return "null";
      case "array": {
        const tuple = schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : undefined);
        if (Array.isArray(tuple))
          return `[${tuple
            .slice(0, CHOICES_MAX)
            .map((each) => this.write(each, depth + 1, within))
            .join(", ")}]`;
        return `${parenthesize(this.write(schema.items, depth + 1, within))}[]`;
      }
      case "object":
        return this.#writeObject(schema, depth, within);
      default:
        return "unknown";
    }
  }

  #writeObject({ properties, required, additionalProperties }: Schema, depth: number, within: ReadonlySet<string>): string {
    const needed = new Set(Array.isArray(required) ? required : []);
    const members = Object.entries(isSchema(properties) ? properties : {})
      .slice(0, PROPERTIES_MAX)
      .map(([name, member]) => {
        const about = isSchema(member) && typeof member.description === "string" ? `${comment(member.description)} ` : "";
        const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
        return `${about}${key}${needed.has(name) ? "" : "?"}: ${this.write(member, depth + 1, within)}`;
      });
    if (isSchema(additionalProperties)) members.push(`[key: string]: ${this.write(additionalProperties, depth + 1, within)}`);
    else if (additionalProperties === true || (members.length === 0 && additionalProperties !== false))
      members.push("[key: string]: unknown");
    return members.length === 0 ? "{}" : `{ ${members.join("; ")} }`;
  }

  /** Only within the same schema. */
  #resolve(reference: string): unknown {
    if (reference === "#") return this.#root;
    if (!reference.startsWith("#/")) return undefined;
    let at: unknown = this.#root;
    for (const part of reference.slice(2).split("/")) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
      at = (at as Record<string, unknown>)[key];
    }
    return at;
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unite(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}

function parenthesize(type: string): string {
  return /[|&]/.test(type) ? `(${type})` : type;
}

function literal(value: unknown): string {
  return typeof value === "string" ? quote(value) : typeof value === "object" && value !== null ? "unknown" : String(value);
}

/** Without anything that ends a fence, moves the cursor or has no glyph. */
function quote(text: string): string {
  return JSON.stringify(text.slice(0, DESCRIPTION_CHARS_MAX)).replaceAll(/[`\p{C}\u2028\u2029]/gu, escapeChar);
}

function escapeChar(char: string): string {
  return Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
}

/** One line, which nothing in it ends: neither a comment nor a fence of Markdown. */
function comment(text: string): string {
  const line = text
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .replaceAll("*/", "* /")
    .replaceAll("`", "'")
    .trim();
  return `/** ${line.length > DESCRIPTION_CHARS_MAX ? `${line.slice(0, DESCRIPTION_CHARS_MAX)}...` : line} */`;
}
