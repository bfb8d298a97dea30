// Parses the arguments of a tool call. Punctuation may be repaired, text never: file content that was cut off must not be written
// as if it were complete.

export type ToolArguments = Record<string, unknown>;

/** The object in the text, or null. */
export function readArguments(raw: string): ToolArguments | null {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as ToolArguments) : null;
  } catch {
    return null;
  }
}

/**
 * Repairs common mistakes of small models: a code fence, an object inside a string, line breaks inside strings, an extra comma, a
 * missing or extra closing brace. Only for whole messages.
 */
export function repairArguments(raw: string): ToolArguments | null {
  const unfenced = raw.trim().replace(/^```[a-z]*\s*([\s\S]*?)\s*```$/i, "$1");
  if (unfenced === "") return {};
  if (unfenced.startsWith('"')) {
    const inner = parseJsonString(unfenced);
    return inner === null ? null : readArguments(inner);
  }
  const repaired = repairPunctuation(unfenced);
  return repaired === null ? null : readArguments(repaired);
}

function parseJsonString(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

const CLOSES: Readonly<Record<string, string>> = { "{": "}", "[": "]" };
const CONTROL: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text with its punctuation repaired, or null if that is not enough. */
function repairPunctuation(text: string): string | null {
  if (!text.startsWith("{")) return null;
  const open: string[] = [];
  let out = "";
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (isString) {
      if (char === "\\") out += char + (text[++at] ?? "");
      else out += CONTROL[char] ?? char;
      if (char === '"') isString = false;
      continue;
    }
    if (char === '"') isString = true;
    if (char in CLOSES) open.push(CLOSES[char]!);
    if (char === "}" || char === "]") {
      if (open.pop() !== char) return null;
      out = withoutComma(out);
    }
    out += char;
    // Only extra closing braces may follow the object.
    if (open.length === 0) return /^[\s}\]]*$/.test(text.slice(at + 1)) ? out : null;
  }
  return isString ? null : withoutComma(out) + open.toReversed().join("");
}

function withoutComma(text: string): string {
  return text.replace(/,\s*$/, "");
}
