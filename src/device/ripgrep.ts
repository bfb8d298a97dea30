// Which files hold a text, asked of ripgrep where the machine has it: it reads them all in a fraction of the time. It only
// says where to look; hardware/search.ts looks there, so that what is found is the same with and without it.

import { spawn } from "node:child_process";

export type Holding = { paths: string[]; isComplete: boolean };

/** Everything that walking the tree ourselves would read, as bytes: nothing is hidden, ignored, binary or another encoding. */
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
/** Of a line's own end there is no line, and of what was no text we show a mark that is not in the file. */
const NOT_IN_BYTES = /[\0\r\n\ufffd]/;
/** It exits so after files it could not read as well as when it was called wrongly; only then it says something. */
const PROBLEM = 2;

/** Null where there is no ripgrep, or it cannot tell. */
export function filesHolding(rg: string, root: string, text: string, ms: number, signal: AbortSignal): Promise<Holding | null> {
  if (NOT_IN_BYTES.test(text) || text.length > QUERY_CHARS_MAX || !text.isWellFormed()) return Promise.resolve(null);
  return new Promise((resolve) => {
    const child = spawn(rg, [...FLAGS, `--regexp=${text}`, "--", root], { stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    const parts: Buffer[] = [];
    let bytes = 0;
    let isComplete = true;
    let isWrong = false;
    const stop = () => {
      isComplete = false;
      child.kill("SIGKILL");
    };
    const late = setTimeout(stop, ms);
    signal.addEventListener("abort", stop, { once: true });
    child.stdout.on("data", (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      if (bytes > LIST_BYTES_MAX) stop();
    });
    child.stderr.on("data", () => (isWrong = true));
    child.once("error", () => resolve(null));
    child.once("close", (code) => {
      clearTimeout(late);
      signal.removeEventListener("abort", stop);
      if (isComplete && (code === null || code > PROBLEM || (code === PROBLEM && isWrong))) return resolve(null);
      // What follows the last end is nothing, or a name that was cut off.
      const paths = Buffer.concat(parts).toString("utf8").split("\0").slice(0, -1);
      // A name that is no UTF-8 cannot be asked for: walking leaves it out as well.
      resolve({ paths: paths.filter((path) => !path.includes("\ufffd")), isComplete });
    });
  });
}
