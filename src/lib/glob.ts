// Patterns of file names: `?` is one character, `*` any run within a name, `**` any run across names. Matching takes time
// proportional to pattern times text, because patterns come from outside and a regular expression made of one could take forever.

const PATTERN_CHARS_MAX = 256;

/** A pattern without a slash matches the last name of a path. */
export function globMatcher(pattern: string): (path: string) => boolean {
  const tokens = tokenize(pattern.slice(0, PATTERN_CHARS_MAX));
  if (pattern.includes("/")) return (path) => matches(tokens, path);
  return (path) => matches(tokens, path.slice(path.lastIndexOf("/") + 1));
}

type Token = "?" | "*" | "**" | { char: string };

function tokenize(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === "*" && pattern[at + 1] === "*") {
      tokens.push("**");
      at++;
    } else if (char === "*" || char === "?") tokens.push(char);
    else tokens.push({ char });
  }
  return tokens;
}

function matches(tokens: readonly Token[], text: string): boolean {
  // reached[i]: the tokens so far can end right before character i.
  let reached = Array.from({ length: text.length + 1 }, () => false);
  reached[0] = true;
  for (const token of tokens) {
    const next = Array.from({ length: text.length + 1 }, () => false);
    if (token === "*" || token === "**") {
      let isInRun = false;
      for (let at = 0; at <= text.length; at++) {
        isInRun = reached[at]! || (isInRun && (token === "**" || text[at - 1] !== "/"));
        next[at] = isInRun;
      }
    } else {
      for (let at = 0; at < text.length; at++) next[at + 1] = reached[at]! && (token === "?" ? text[at] !== "/" : text[at] === token.char);
    }
    reached = next;
  }
  return reached[text.length]!;
}
