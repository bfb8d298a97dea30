// fs.edit: replaces exact text in a file. If it does not match, the error says what is there instead.

import { FileError, type FileMachine } from "./filesystem.ts";
import { type Failure, OpError, catchFailures } from "./outcome.ts";
import { decodeText, humanSize } from "./text.ts";

export type EditArgs = { path: string; oldString: string; newString: string; replaceAll?: boolean | undefined };
export type EditResult = { ok: true; path: string; replacements: number } | Failure;

const LINES_NAMED = 10;

export function editFile({ files, limits }: FileMachine, args: EditArgs): Promise<EditResult> {
  return catchFailures<EditResult>(files, async () => {
    const path = files.resolve(args.path);
    const { oldString, newString } = args;
    if (oldString === "") throw new OpError("oldString must not be empty: to create a file, use fs.write");
    if (oldString === newString) throw new OpError("oldString and newString are the same: nothing would change");
    const stat = await files.stat(path).catch((error: unknown) => {
      if (error instanceof FileError && error.code === "ENOENT") throw new OpError(`File not found: ${path}`);
      throw error;
    });
    if (stat.kind !== "file") throw new FileError("EISDIR", path);
    if (stat.size > limits.textBytes)
      throw new OpError(`File too large to edit (${humanSize(stat.size)}, at most ${humanSize(limits.textBytes)}): ${path}`);
    const text = decodeText(await files.read(path));
    if (text === null) throw new OpError(`Binary file: ${path} cannot be edited as text`);
    const parts = text.split(oldString);
    const found = parts.length - 1;
    if (found === 0) throw new OpError(`oldString not found in ${path}${nearMissHint(text, oldString)}`);
    if (found > 1 && args.replaceAll !== true) {
      throw new OpError(
        `oldString occurs ${found} times in ${path} (${describeLines(text, oldString)}): include more of the surrounding text, or set replaceAll`,
      );
    }
    // Writes only over the version it read, so that a concurrent edit is not lost.
    await files.write(path, new TextEncoder().encode(parts.join(newString)), { ifVersion: stat.version });
    return { ok: true, path, replacements: found };
  });
}

function describeLines(text: string, wanted: string): string {
  const lines: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1 && lines.length <= LINES_NAMED; at = text.indexOf(wanted, at + wanted.length)) {
    lines.push(text.slice(0, at).split("\n").length);
  }
  const named = lines.slice(0, LINES_NAMED).join(", ");
  return `lines ${named}${lines.length > LINES_NAMED ? ", ..." : ""}`;
}

/** Recognizes the usual near misses: different white space, and the line numbers that fs.read adds. */
function nearMissHint(text: string, wanted: string): string {
  if (/^ *\d+\t/.test(wanted)) return ". Leave out the line numbers that fs.read adds";
  const first = wanted
    .split("\n")
    .find((line) => line.trim() !== "")
    ?.trim();
  if (first === undefined) return "";
  const at = text.split("\n").findIndex((line) => line.trim() === first);
  return at === -1 ? ". Read the file again and copy the text exactly" : `. Line ${at + 1} differs only in white space: copy it exactly`;
}
