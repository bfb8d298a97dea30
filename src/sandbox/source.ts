// Reads the source of a script as people and models write it: with a Markdown fence, as a function, or as the body of one.

/** `prefix` is what was added before the first line, which moves its columns. */
export type WrappedSource = { text: string; prefix: number };

const FENCE = /^```(?:js|javascript|typescript|ts|tsx|jsx)?[ \t]*\n([^]*?)\n?```$/;
/** Control sequences of terminals. */
// oxlint-disable-next-line no-control-regex
const ANSI = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;
/** NUL and characters without width. */
// oxlint-disable-next-line no-control-regex, no-misleading-character-class
const INVISIBLE = /[\u0000\u200b\u200c\u200d\u2060\ufeff]/g;
const FUNCTION = /^(?:async\s+)?function\b|^(?:async\s*)?(?:\([^()]*\)|[\w$]+)\s*=>/;
const BODY_PREFIX = "(async () => {";
const EXPRESSION_PREFIX = "(";

export function cleanSource(code: string): string {
  const visible = code.replace(ANSI, "").replace(INVISIBLE, "").trim();
  const inner = FENCE.exec(visible)?.[1] ?? visible;
  return inner.trim().replace(/^export\s+default\s+/, "");
}

/** What to compile, each of it an expression whose value is a function; the next one is tried if one is not valid. */
export function wrapSource(source: string): WrappedSource[] {
  // The line break ends a comment on the last line.
  const body = { text: `${BODY_PREFIX}${source}\n})`, prefix: BODY_PREFIX.length };
  const expression = { text: `${EXPRESSION_PREFIX}${source.replace(/;$/, "")}\n)`, prefix: EXPRESSION_PREFIX.length };
  return FUNCTION.test(source) ? [expression, body] : [body];
}
