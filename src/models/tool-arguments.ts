// What a model wrote as the arguments of a tool call. Punctuation may be mended, text never: a file's content that was
// cut off must not be written as if it were whole.

export type ToolArguments = Record<string, unknown>;

/** The object that the text is, or null. */
export function readArguments(raw: string): ToolArguments | null {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as ToolArguments) : null;
  } catch {
    return null;
  }
}

/**
 * What small models get wrong: a code fence around, an object inside a string, line breaks inside strings, a comma too
 * many, a closing brace too few or too many. Only for messages that are whole.
 */
export function mendArguments(raw: string): ToolArguments | null {
  const bare = raw.trim().replace(/^```[a-z]*\s*([\s\S]*?)\s*```$/i, "$1");
  if (bare === "") return {};
  if (bare.startsWith('"')) {
    const inner = readString(bare);
    return inner === null ? null : readArguments(inner);
  }
  const mended = mend(bare);
  return mended === null ? null : readArguments(mended);
}

function readString(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

const CLOSES: Readonly<Record<string, string>> = { "{": "}", "[": "]" };
const CONTROL: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The same text with its punctuation in order, or null where that is not enough. */
function mend(text: string): string | null {
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
    // Whatever follows the object may only be one brace too many.
    if (open.length === 0) return /^[\s}\]]*$/.test(text.slice(at + 1)) ? out : null;
  }
  return isString ? null : withoutComma(out) + open.toReversed().join("");
}

function withoutComma(text: string): string {
  return text.replace(/,\s*$/, "");
}
