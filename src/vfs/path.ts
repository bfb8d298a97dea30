// Paths of the gateway's tree, made plain. One resolver for everybody: what comes out is absolute, has no `.`, `..` or
// empty parts, and never climbs above the root.

import { FileError } from "../hardware/filesystem.ts";

export const PATH_BYTES_MAX = 1024;
const NAME_BYTES_MAX = 255;

export function resolvePath(path: string, who: { home: string; cwd: string }): string {
  if (path.includes("\0") || !path.isWellFormed()) throw new FileError("EINVAL", path, "A path must not hold a NUL or half a character");
  const parts: string[] = [];
  for (const part of absolute(path, who).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const resolved = `/${parts.join("/")}`;
  const encoder = new TextEncoder();
  if (encoder.encode(resolved).length > PATH_BYTES_MAX || parts.some((part) => encoder.encode(part).length > NAME_BYTES_MAX)) {
    throw new FileError("ENAMETOOLONG", resolved);
  }
  return resolved;
}

/** The directories on the way to a path, from the root, the path itself left out. */
export function ancestors(path: string): string[] {
  if (path === "/") return [];
  const parts = path.split("/").slice(1, -1);
  return ["/", ...parts.map((_, at) => `/${parts.slice(0, at + 1).join("/")}`)];
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function absolute(path: string, { home, cwd }: { home: string; cwd: string }): string {
  if (path.startsWith("/")) return path;
  if (path === "~" || path.startsWith("~/")) return home + path.slice(1);
  return `${cwd}/${path}`;
}
