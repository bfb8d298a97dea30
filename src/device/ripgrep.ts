// Asks ripgrep, if the machine has it, which files hold a text: it is much faster than reading them all here. It only returns
// candidates; hardware/search.ts reads those, so the results are the same with and without it.

import { spawn } from "node:child_process";

export type MatchingPaths = { paths: string[]; isComplete: boolean };

/** Makes it read everything that a walk would, as bytes: no file is skipped as hidden, ignored, binary or differently encoded. */
const FLAGS = [
  "--no-config",
  "--files-with-matches",
  "--null",
  "--fixed-strings",
  "--case-sensitive",
  "--text",
  "--encoding=none",
  "--hidden",
  "--no-ignore",
  "--follow",
  "--no-messages",
  "--color=never",
  "--path-separator=/",
];
const LIST_BYTES_MAX = 32 * 1024 * 1024;
const QUERY_CHARS_MAX = 4096;
/** No line contains a line end, and U+FFFD, which we show for invalid bytes, is not in the file. */
const NOT_IN_BYTES = /[\0\r\n\ufffd]/;
/** Its exit code both for unreadable files and for wrong usage; only in the second case it writes to stderr. */
const PROBLEM = 2;

/** Null if there is no ripgrep, or it cannot search for this text. */
export function searchWithRipgrep(rg: string, root: string, text: string, ms: number, signal: AbortSignal): Promise<MatchingPaths | null> {
  if (NOT_IN_BYTES.test(text) || text.length > QUERY_CHARS_MAX || !text.isWellFormed()) return Promise.resolve(null);
  return new Promise((resolve) => {
    const child = spawn(rg, [...FLAGS, `--regexp=${text}`, "--", root], { stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    const parts: Buffer[] = [];
    let bytes = 0;
    let isComplete = true;
    let hasStderr = false;
    const stop = () => {
      isComplete = false;
      child.kill("SIGKILL");
    };
    const timer = setTimeout(stop, ms);
    signal.addEventListener("abort", stop, { once: true });
    child.stdout.on("data", (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      if (bytes > LIST_BYTES_MAX) stop();
    });
    child.stderr.on("data", () => (hasStderr = true));
    child.once("error", () => resolve(null));
    child.once("close", (code) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      if (isComplete && (code === null || code > PROBLEM || (code === PROBLEM && hasStderr))) return resolve(null);
      // After the last terminator comes nothing, or a truncated name.
      const paths = Buffer.concat(parts).toString("utf8").split("\0").slice(0, -1);
      // A name that is not valid UTF-8 cannot be requested; a walk leaves it out as well.
      resolve({ paths: paths.filter((path) => !path.includes("\ufffd")), isComplete });
    });
  });
}
