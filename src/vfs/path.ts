// Normalizes paths of the gateway's tree. There is one resolver for all callers: its result is absolute, has no `.`, `..` or
// empty parts, and is never above the root.

import { FileError } from "../hardware/filesystem.ts";

export const PATH_BYTES_MAX = 1024;
const NAME_BYTES_MAX = 255;

export function resolvePath(path: string, who: { home: string; cwd: string }): string {
  if (path.includes("\0") || !path.isWellFormed()) throw new FileError("EINVAL", path, "A path must not contain a NUL or a lone surrogate");
  const parts: string[] = [];
  for (const part of makeAbsolute(path, who).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const resolved = `/${parts.join("/")}`;
  if (isLonger(resolved, PATH_BYTES_MAX) || parts.some((part) => isLonger(part, NAME_BYTES_MAX)))
    throw new FileError("ENAMETOOLONG", resolved);
  return resolved;
}

/** Compares the length in UTF-8. A UTF-16 unit takes at most three bytes, so most paths need not be encoded. */
function isLonger(text: string, bytesMax: number): boolean {
  return text.length * 3 > bytesMax && new TextEncoder().encode(text).length > bytesMax;
}

/** The directories above a path, from the root, without the path itself. */
export function ancestors(path: string): string[] {
  if (path === "/") return [];
  const directories = ["/"];
  for (let at = path.indexOf("/", 1); at !== -1; at = path.indexOf("/", at + 1)) directories.push(path.slice(0, at));
  return directories;
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function makeAbsolute(path: string, { home, cwd }: { home: string; cwd: string }): string {
  if (path.startsWith("/")) return path;
  if (path === "~" || path.startsWith("~/")) return home + path.slice(1);
  return `${cwd}/${path}`;
}
