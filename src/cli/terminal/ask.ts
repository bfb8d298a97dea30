// Reads values from a terminal or a pipe. Prompts are drawn on stderr, so that results can be piped while a password is typed.
// Without a terminal nothing is asked: a missing value is an error.

import { LIMITS } from "../../protocol/limits.ts";
import { EXIT_CANCELLED, Problem } from "./problem.ts";

export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Enter takes `fallback`. */
export async function askText(message: string, fallback = "", check?: (value: string) => string | undefined): Promise<string> {
  const { isCancel, text } = await import("@clack/prompts");
  const answer = await text({
    message,
    output: process.stderr,
    ...(fallback === "" ? {} : { placeholder: fallback, defaultValue: fallback }),
    validate: (value) => check?.(value || fallback),
  });
  return isCancel(answer) ? cancel() : (answer ?? "").trim();
}

export async function askSecret(message: string, check?: (value: string) => string | undefined): Promise<string> {
  const { isCancel, password } = await import("@clack/prompts");
  const answer = await password({ message, output: process.stderr, validate: (value) => check?.(value ?? "") });
  return isCancel(answer) ? cancel() : (answer ?? "");
}

/** Asks twice, because the input is not visible. Either entry may be mistyped, so both are asked for again. */
export async function askNewPassword(message: string): Promise<string> {
  for (let again = ""; ; again = " (the two entries did not match)") {
    const first = await askSecret(message + again, (value) =>
      value.trim().length < LIMITS.passwordChars ? `At least ${LIMITS.passwordChars} characters` : undefined,
    );
    if ((await askSecret("Repeat the password")) === first) return first;
  }
}

export async function askYesNo(message: string, initialValue = true): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message, initialValue, output: process.stderr });
  return isCancel(answer) ? cancel() : answer;
}

/** The value of a secret flag. `-`, or the flag alone, means: ask for it, or read the next line of a pipe. */
export async function readSecret(flag: string, value: string | true, ask: () => Promise<string>): Promise<string> {
  if (value !== true && value !== "-") return value;
  if (isInteractive()) return ask();
  const line = await readStdinLine();
  if (line === null || line === "") throw new Problem(`${flag} reads a line of standard input, but there is none`);
  return line;
}

let unread: Buffer = Buffer.alloc(0);
let chunks: NodeJS.AsyncIterator<Buffer> | null = null;

/** The next line of standard input, null at its end. Several secrets are several lines. */
async function readStdinLine(): Promise<string | null> {
  while (!unread.includes("\n")) {
    const chunk = await nextChunk();
    if (chunk === null) break;
    unread = Buffer.concat([unread, chunk]);
  }
  if (unread.length === 0) return null;
  const end = unread.includes("\n") ? unread.indexOf("\n") : unread.length;
  const line = unread.toString("utf8", 0, end).replace(/\r$/, "");
  unread = unread.subarray(end + 1);
  return line;
}

/** The rest of standard input. */
export async function readStdinRest(): Promise<string> {
  return (await readStdinBytes(Infinity)).toString("utf8");
}

/** The same as bytes. A result longer than `bytesMax` means that the rest was not read. */
export async function readStdinBytes(bytesMax: number): Promise<Buffer> {
  const parts = [unread];
  let size = unread.length;
  unread = Buffer.alloc(0);
  while (size <= bytesMax) {
    const chunk = await nextChunk();
    if (chunk === null) break;
    parts.push(chunk);
    size += chunk.length;
  }
  return Buffer.concat(parts);
}

/** The next piece of standard input, null at its end. */
export async function readStdinChunk(): Promise<Buffer | null> {
  if (unread.length === 0) return nextChunk();
  const part = unread;
  unread = Buffer.alloc(0);
  return part;
}

async function nextChunk(): Promise<Buffer | null> {
  chunks ??= process.stdin.iterator({ destroyOnReturn: false });
  // A pipe that stays open keeps the program alive only while a read waits for it.
  process.stdin.ref?.();
  const { value, done } = await chunks.next();
  process.stdin.unref?.();
  return done === true ? null : value;
}

function cancel(): never {
  throw new Problem("Cancelled", EXIT_CANCELLED);
}
