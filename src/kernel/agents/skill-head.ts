// Reads the name and description of a skill from its front matter, or else from its file name and first line. Skills are written by
// agents and copied from anywhere, so their content is treated as plain text.

export type SkillHead = { name: string; description: string };

const DESCRIPTION_CHARS_MAX = 220;
const NAME_CHARS_MAX = 80;

/** `fallbackName` is the name of the file or directory. */
export function parseSkillHead(text: string, fallbackName: string): SkillHead {
  const { fields, body } = splitFrontMatter(text.replace(/^\uFEFF/, ""));
  const name = toPlainLine(fields.get("name") ?? "", NAME_CHARS_MAX) || toPlainLine(fallbackName, NAME_CHARS_MAX);
  const description = fields.get("description") || findFirstLine(body);
  return { name: name.toLowerCase().replaceAll(" ", "-"), description: toPlainLine(description, DESCRIPTION_CHARS_MAX) };
}

/** Front matter without an end counts as part of the body. */
function splitFrontMatter(text: string): { fields: Map<string, string>; body: string[] } {
  const lines = text.split(/\r?\n/);
  const end = lines[0]?.trim() === "---" ? lines.findIndex((line, at) => at > 0 && line.trim() === "---") : -1;
  return end === -1 ? { fields: new Map(), body: lines } : { fields: parseFields(lines.slice(1, end)), body: lines.slice(end + 1) };
}

/** Parses "key: value". Indented lines continue a value, and empty ones do not end it; > and | announce such lines. */
function parseFields(lines: readonly string[]): Map<string, string> {
  const values = new Map<string, string[]>();
  let value: string[] = [];
  for (const line of lines) {
    const [, key, first = ""] = /^([\w-]+):(.*)$/.exec(line) ?? [];
    if (key !== undefined) {
      value = /^\s*[>|][\d+-]{0,2}\s*$/.test(first) ? [] : [first];
      values.set(key, value);
    } else if (line.trim() === "" || /^\s/.test(line)) value.push(line);
  }
  return new Map([...values].map(([key, parts]) => [key, unquote(parts.join(" ").trim())]));
}

function unquote(value: string): string {
  const [first] = value;
  return value.length > 1 && (first === '"' || first === "'") && value.endsWith(first) ? value.slice(1, -1) : value;
}

/** The first line of text, which is neither a heading nor a rule. */
function findFirstLine(body: readonly string[]): string {
  return body.find((line) => line.trim() !== "" && !/^\s*(#|[-=*_]{3,}\s*$)/.test(line)) ?? "";
}

/** Makes text one line without control characters or changes of direction, and shortens it. */
function toPlainLine(text: string, maxChars: number): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s\u202A-\u202E\u2066-\u2069]+/gu, " ").trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 3).replace(/[\uD800-\uDBFF]$/, "")}...`;
}
