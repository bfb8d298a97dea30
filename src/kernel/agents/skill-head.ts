// What the beginning of a skill says about it: name and description from its front matter, else from where it lies and its
// first words. Skills are written by agents and copied from anywhere, so nothing in one is more than text.

export type SkillHead = { name: string; description: string };

const DESCRIPTION_CHARS_MAX = 220;
const NAME_CHARS_MAX = 80;

/** `fallbackName` is that of its file or directory. */
export function skillHead(text: string, fallbackName: string): SkillHead {
  const { fields, body } = split(text.replace(/^\uFEFF/, ""));
  const name = plain(fields.get("name") ?? "", NAME_CHARS_MAX) || plain(fallbackName, NAME_CHARS_MAX);
  const description = fields.get("description") || firstLine(body);
  return { name: name.toLowerCase().replaceAll(" ", "-"), description: plain(description, DESCRIPTION_CHARS_MAX) };
}

/** One that has no end is taken for the skill's body. */
function split(text: string): { fields: Map<string, string>; body: string[] } {
  const lines = text.split(/\r?\n/);
  const end = lines[0]?.trim() === "---" ? lines.findIndex((line, at) => at > 0 && line.trim() === "---") : -1;
  return end === -1 ? { fields: new Map(), body: lines } : { fields: fieldsOf(lines.slice(1, end)), body: lines.slice(end + 1) };
}

/** "key: value", and blocks after > or |, whose lines are indented. */
function fieldsOf(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  let block: string | null = null;
  for (const line of lines) {
    if (block !== null && /^\s/.test(line)) {
      fields.set(block, `${fields.get(block)} ${line.trim()}`);
      continue;
    }
    const [, key = "", value = ""] = /^([\w-]+):(.*)$/.exec(line) ?? [];
    block = /^[>|][+-]?$/.test(value.trim()) ? key : null;
    if (key !== "") fields.set(key, block === null ? unquoted(value.trim()) : "");
  }
  return fields;
}

function unquoted(value: string): string {
  const [first] = value;
  return value.length > 1 && (first === '"' || first === "'") && value.endsWith(first) ? value.slice(1, -1) : value;
}

/** Of words: neither a heading nor a rule. */
function firstLine(body: readonly string[]): string {
  return body.find((line) => line.trim() !== "" && !/^\s*(#|[-=*_]{3,}\s*$)/.test(line)) ?? "";
}

/** In one line and in the order it is read in, whatever is in it. */
function plain(text: string, maxChars: number): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s\u202A-\u202E\u2066-\u2069]+/gu, " ").trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 3).replace(/[\uD800-\uDBFF]$/, "")}...`;
}
