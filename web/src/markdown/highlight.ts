// Simple syntax highlighting: comments, strings, numbers and keywords that many languages share. It parses no language, so it is
// fast and its errors are small.

export type Token = { kind: "plain" | "comment" | "string" | "number" | "word"; text: string };

/** Longer code is not highlighted. */
const CHARS_MAX = 20_000;
const HASH_COMMENT_LANGUAGES = new Set([
  "sh",
  "bash",
  "zsh",
  "shell",
  "console",
  "python",
  "py",
  "ruby",
  "rb",
  "yaml",
  "yml",
  "toml",
  "ini",
  "make",
  "dockerfile",
  "r",
  "perl",
]);
const DASH_COMMENT_LANGUAGES = new Set(["sql", "lua", "haskell", "hs"]);
const PLAIN_LANGUAGES = new Set(["", "text", "txt", "plain", "markdown", "md", "diff", "log", "csv"]);
const KEYWORDS =
  "abstract|and|as|async|await|break|case|catch|class|const|continue|def|default|del|do|done|elif|else|end|enum|esac|except|export|extends|false|fi|final|finally|fn|for|from|func|function|go|if|impl|implements|import|in|interface|is|lambda|let|local|loop|match|mod|mut|namespace|new|nil|none|not|null|or|package|pass|private|protected|pub|public|raise|return|select|self|static|struct|super|switch|then|this|throw|trait|true|try|type|typeof|undefined|use|using|var|void|where|while|with|yield";

export function highlight(text: string, language: string): Token[] {
  const name = language.toLowerCase();
  if (PLAIN_LANGUAGES.has(name) || text.length > CHARS_MAX) return [{ kind: "plain", text }];
  const comment = HASH_COMMENT_LANGUAGES.has(name)
    ? String.raw`#[^\n]*`
    : DASH_COMMENT_LANGUAGES.has(name)
      ? String.raw`--[^\n]*`
      : String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;
  const flags = name === "sql" ? "gi" : "g";
  const pattern = new RegExp(
    String.raw`(?<comment>${comment})|(?<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\`(?:\\.|[^\`\\])*\`)|(?<number>\b\d[\w.]*\b)|(?<word>\b(?:${KEYWORDS})\b)`,
    flags,
  );
  const tokens: Token[] = [];
  let last = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > last) tokens.push({ kind: "plain", text: text.slice(last, match.index) });
    const [kind] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? ["plain"];
    tokens.push({ kind: kind as Token["kind"], text: match[0] });
    last = match.index + match[0].length;
  }
  if (last < text.length) tokens.push({ kind: "plain", text: text.slice(last) });
  return tokens;
}
