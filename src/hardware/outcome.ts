// How a file operation's failure reaches the caller: as a sentence in the result that says what to do next, because an agent can
// fix it. Any error other than a FileError or an OpError is our own bug and is rethrown.

import { FileError, type FileSystem } from "./filesystem.ts";

/** A problem the caller can fix. Becomes `{ ok: false, error }`. */
export class OpError extends Error {}

export type Failure = { ok: false; error: string };

export async function catchFailures<T>(files: FileSystem, work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OpError) return { ok: false, error: error.message };
    if (error instanceof FileError) return { ok: false, error: await explainFileError(files, error) };
    throw error;
  }
}

async function explainFileError(files: FileSystem, { code, path, message, detail }: FileError): Promise<string> {
  switch (code) {
    case "ENOENT":
      return `Not found: ${path}${await describeNearestDirectory(files, path)}`;
    case "EACCES":
      return `Permission denied: ${path}`;
    case "EPERM":
      return `Not permitted: ${path}${detail === undefined ? "" : `. ${detail}`}`;
    case "EEXIST":
      return `Already exists: ${path}. Choose another name, or remove it first`;
    case "EISDIR":
      return `Is a directory: ${path}`;
    case "ENOTDIR":
      return `Not a directory: ${path} or a directory above it`;
    case "ENOTEMPTY":
      return `Directory not empty: ${path}. Remove what is in it first`;
    case "EXDEV":
      return `Cannot move ${path} to another part of the tree: copy it, then delete the original`;
    case "EFBIG":
      return `Too large for one file: ${path}${detail === undefined ? "" : `. ${detail}`}`;
    case "ENAMETOOLONG":
      return `Path too long: ${path.slice(0, 100)}...`;
    case "ENOSPC":
      return `Storage is full: nothing was written to ${path}`;
    case "EDQUOT":
      return detail ?? `Disk quota exceeded: nothing was written to ${path}. Delete files, or ask for a larger quota`;
    case "ENOSYS":
      return `Not supported at ${path}`;
    case "ESTALE":
      return `${path} has changed in the meantime: read it again`;
    case "EINVAL":
      return message;
  }
}

/** Names the closest parent directory that exists. */
async function describeNearestDirectory(files: FileSystem, path: string): Promise<string> {
  for (let at = parentPath(path); ; at = parentPath(at)) {
    const stat = await files.stat(at).catch(() => null);
    if (stat?.kind === "directory") return `. The nearest directory that exists is ${at}`;
    if (at === parentPath(at)) return "";
  }
}

export function parentPath(path: string): string {
  const at = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return at <= 0 ? path.slice(0, Math.max(at + 1, 0)) || "/" : path.slice(0, at);
}
