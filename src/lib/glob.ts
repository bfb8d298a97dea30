// Patterns of file names: `?` is one character, `*` any run of them within a name, `**` any run across names. Matched in
// steps of pattern times text, because a pattern comes from outside and a regular expression of it could take for ever.

const PATTERN_CHARS_MAX = 256;

/** A pattern without a slash is about the last name alone. */
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
  // reached[i]: the tokens so far can end just before character i.
  let reached = Array.from({ length: text.length + 1 }, () => false);
  reached[0] = true;
  for (const token of tokens) {
    const next = Array.from({ length: text.length + 1 }, () => false);
    if (token === "*" || token === "**") {
      let running = false;
      for (let at = 0; at <= text.length; at++) {
        running = reached[at]! || (running && (token === "**" || text[at - 1] !== "/"));
        next[at] = running;
      }
    } else {
      for (let at = 0; at < text.length; at++) next[at + 1] = reached[at]! && (token === "?" ? text[at] !== "/" : text[at] === token.char);
    }
    reached = next;
  }
  return reached[text.length]!;
}
