// Whether a command line for a device consists only of vetted programs (vetted-programs.ts). A device runs it in its user's login
// shell, which may be any shell, so the text is split here into a few simple parts that all shells read alike: words, quoted text,
// pipes, lists of commands, and output into files. Any other character makes the line unvetted. What the words mean in addition, such as
// hidden files, secrets and policies, is up to tags.ts.

import { isPlainPath, isVettedProgram } from "./vetted-programs.ts";

export function isVettedCommand(text: string): boolean {
  const commands = splitCommands(text);
  return commands !== null && commands.length > 0 && commands.every(([name, ...words]) => isVettedProgram(name!, words));
}

/** The words of each command, without redirections; null for a line that shells may read in different ways. */
export function splitCommands(text: string): string[][] | null {
  const commands: string[][] = [[]];
  for (let at = 0; at < text.length; at = PART.lastIndex) {
    PART.lastIndex = at;
    const part = PART.exec(text)?.groups;
    if (part === undefined) return null;
    const { end, output, file, word } = part;
    const command = commands.at(-1)!;
    if (end !== undefined) commands.push([]);
    if (word !== undefined) command.push(unquote(word));
    // Without a command before it, shells differ in what becomes of the file.
    if (output !== undefined && command.length === 0) return null;
    if (file !== undefined && !isPlainPath(unquote(file))) return null;
  }
  return commands.filter(({ length }) => length > 0);
}

/** No other marks of Unicode: PowerShell takes typographic quotes and dashes for plain ones. */
const LETTERS = String.raw`\p{L}\p{M}\p{N}`;
const PLAIN = `[${LETTERS}_./,:=+@%~-]`;
/** Without anything that a shell would replace in it, or that would end it in one shell and not in another. */
const SINGLE = String.raw`'(?:(?!['!\\])[ -~${LETTERS}]|\\(?!['!\\]))*'`;
const DOUBLE = String.raw`"(?:(?!["!\\$\x60])[ -~${LETTERS}])*"`;
/** Not directly before `>`: shells differ in what a digit there belongs to. */
const WORD = String.raw`(?:${PLAIN}*(?:${SINGLE}|${DOUBLE})|${PLAIN}+)(?=[ \t\n|;&]|$)`;

const PART = new RegExp(
  [
    String.raw`[ \t]+`,
    String.raw`(?<end>&&|\|\||[|;\n])`,
    String.raw`(?<output>2>&1(?=[ \t\n|;&]|$)|[12]?>>?[ \t]*(?<file>${WORD}))`,
    String.raw`(?<word>${WORD})`,
  ].join("|"),
  "uy",
);

function unquote(word: string): string {
  const quote = word.search(/['"]/);
  return quote === -1 ? word : word.slice(0, quote) + word.slice(quote + 1, -1);
}
