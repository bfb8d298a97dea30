// Quotes words for a shell.

const SAFE = /^[\w@%+=:,./-]+$/;

export function shellQuote(word: string): string {
  return SAFE.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A single word may be a whole line with pipes in it; several are a command and its arguments, each quoted. */
export function joinCommandLine(words: readonly string[]): string {
  return words.length === 1 ? (words[0] ?? "") : words.map(shellQuote).join(" ");
}
