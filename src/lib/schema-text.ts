// Prints a JSON Schema as a TypeScript type, for reference pages, `gsv help` and the client's types.

export type JsonSchema = {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  additionalProperties?: JsonSchema | boolean;
  [keyword: string]: unknown;
};

/** `indent` null prints on one line. */
export function formatSchemaAsType(schema: JsonSchema, indent: number | null = null): string {
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return [...new Set(options.map((option) => formatSchemaAsType(option, indent)))].join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => formatSchemaAsType({ ...schema, type }, indent)).join(" | ");
  switch (schema.type) {
    case "object":
      return objectText(schema, indent);
    case "array":
      return arrayText(schema.items ?? {}, indent);
    case "integer":
      return "number";
    case "string":
    case "number":
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "unknown";
  }
}

function objectText(schema: JsonSchema, indent: number | null): string {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) {
    const values = schema.additionalProperties;
    return typeof values === "object" ? `Record<string, ${formatSchemaAsType(values, indent)}>` : "Record<string, never>";
  }
  const inner = indent === null ? null : indent + 1;
  const lines = fields.map(([name, field]) => `${name}${schema.required?.includes(name) ? "" : "?"}: ${formatSchemaAsType(field, inner)};`);
  if (indent === null) return `{ ${lines.join(" ").replace(/;$/, "")} }`;
  const pad = "  ".repeat(indent);
  return `{\n${lines.map((line) => `${pad}  ${line}`).join("\n")}\n${pad}}`;
}

function arrayText(items: JsonSchema, indent: number | null): string {
  const text = formatSchemaAsType(items, indent);
  return text.includes(" | ") ? `Array<${text}>` : `${text}[]`;
}
