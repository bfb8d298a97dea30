// Which names a tree may contain and which paths a caller may pass. Other people's machines check trees out, so a name is
// refused if any file system could take it for git's own directory, for a parent, or for a drive.

import { fail } from "../lib/sys-error.ts";
import { toBytes } from "./text.ts";

const NAME_BYTES_MAX = 255;
const PATH_BYTES_MAX = 4096;

/** Code points that HFS+ ignores when it compares names. */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

/** Why a tree may not contain this name; undefined if it may. */
export function nameFault(name: string): string | undefined {
  if (name === "") return "an empty name";
  // oxlint-disable-next-line no-control-regex -- these are the characters in question
  if (/[\0\r\n/]/.test(name)) return "a slash, line break or NUL in a name";
  if (name.length * 3 > NAME_BYTES_MAX && toBytes(name).length > NAME_BYTES_MAX) return "a name that is too long";
  if (/^[A-Za-z]:/.test(name)) return "a drive letter";
  // Windows treats a backslash as a slash.
  for (const part of name.split("\\")) {
    if (part === "") return "a backslash at the edge of a name";
    if (part === "." || part === "..") return `the name '${part}'`;
    if (isDotGit(part)) return "a name that stands for .git";
  }
  return undefined;
}

/** Why this name may not be a symbolic link: git itself reads files such as .gitmodules from a work tree. */
export function linkFault(name: string): string | undefined {
  const plain = name.replace(HFS_IGNORED, "").toLowerCase();
  const isGitFile = /^\.git(modules|attributes|ignore)[ .]*(:.*)?$/.test(plain) || /^(gitmod|gitatt|gitign|gi[0-9a-f]{4})~\d/.test(plain);
  return isGitFile ? `${name} as a symbolic link` : undefined;
}

function isDotGit(name: string): boolean {
  return /^(\.git|git~\d+)[ .]*(:.*)?$/.test(name.replace(HFS_IGNORED, "").toLowerCase());
}

/** The segments of a path to read, without empty and `.` segments. An empty list is the root. */
export function parseReadPath(path: string): string[] {
  if (path.includes("\0")) fail(400, "Invalid path: it contains a NUL");
  if (path.length > PATH_BYTES_MAX || toBytes(path).length > PATH_BYTES_MAX) fail(400, `Invalid path: longer than ${PATH_BYTES_MAX} bytes`);
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) fail(400, `Invalid path: ${path} (no '..')`);
  return segments;
}

/** The segments of a path to write. */
export function parseWritePath(path: string): string[] {
  const segments = parseReadPath(path);
  if (segments.length === 0) fail(400, "Invalid path: it names the root");
  for (const segment of segments) {
    const fault = nameFault(segment);
    if (fault !== undefined) fail(400, `Invalid path: ${path} (${fault})`);
  }
  return segments;
}
