// Stack traces of scripts: the lines that are the script's own, at the columns of the source as it was written.

export const SCRIPT_FILE = "script.js";
const FRAMES_MAX = 10;
/** `at name (file:line:column)`, or without a name. */
const FRAME = /^\s*at (?:(.*?) \()?([^()\s]*):(\d+):(\d+)\)?$/;

/** `prefix` is the number of characters that were added before the first line. */
export function describeStack(stack: string, prefix: number): string {
  const frames: string[] = [];
  for (const line of stack.split("\n")) {
    const [, name = "", file, row = "", column = ""] = FRAME.exec(line) ?? [];
    if (file !== SCRIPT_FILE || frames.length === FRAMES_MAX) continue;
    const place = `${SCRIPT_FILE}:${row}:${row === "1" ? Math.max(1, Number(column) - prefix) : column}`;
    frames.push(name === "" || name === "<anonymous>" || name === "<eval>" ? `    at ${place}` : `    at ${name} (${place})`);
  }
  return frames.join("\n");
}
