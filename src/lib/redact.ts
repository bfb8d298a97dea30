// Removes secrets from text: known ones wherever they occur, and others by their shape or by the word before them. For text that
// is shown to a model or stored where no password may be.

export const SECRET_REMOVED = "[secret removed]";

/** The shapes of well-known keys and tokens, and any long text that does not look like a word. */
const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:sk|pk|rk|gsk|xai|ghp|gho|ghs|github_pat|glpat|hf|nvapi|r8|key|gsv_[a-z]+)[-_][\w-]{8,}/gi,
  /\bAIza[\w-]{10,}/g,
  /\bAKIA[A-Z0-9]{12,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /\bBearer\s+\S{8,}/gi,
  // The credentials in a URL.
  /(?<=:\/\/)[^\s/@:]*:[^\s/@]+(?=@)/g,
  /(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])[\w+/=-]{24,}/gi,
];

/** What follows a word such as password, up to the next space or the closing quote. What stands for a secret already stays. */
const NAMED =
  /\b(pass(?:word|phrase|wd|wort)?|kennwort|pwd?|pin|secret|token|api[ _-]?key|key|credential)s?(\s*(?:(?:should|shall|will|must)\s+)?(?:(?:is|are|to|as|be|=>|ist)\s+|[:=]\s*)(?:it\s+)?)(?!\[(?:secret removed|key entered in the form)\])("[^"\n]*"|'[^'\n]*'|`[^`\n]*`|\S+)/gi;

/** Shorter ones occur inside words by chance. */
const KNOWN_CHARS_MIN = 4;

/** `known` are values that are certainly secrets. */
export function redact(text: string, known: readonly string[]): string {
  let clean = text;
  for (const secret of known.filter(({ length }) => length >= KNOWN_CHARS_MIN)) clean = clean.replaceAll(secret, SECRET_REMOVED);
  clean = clean.replaceAll(NAMED, (_, word: string, between: string) => `${word}${between}${SECRET_REMOVED}`);
  for (const shape of SHAPES) clean = clean.replaceAll(shape, SECRET_REMOVED);
  return clean;
}
