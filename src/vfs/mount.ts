// A mount: one part of the tree, as a record of operations with defaults that refuse. A new part is one file that ends
// in such a record. `who` is passed to each operation; nothing here is ambient.

import { type ByteRange, type FileEntry, FileError, type FileStat } from "../hardware/filesystem.ts";

export type Who = {
  uid: number;
  gid: number;
  gids: readonly number[];
  username: string;
  home: string;
  cwd: string;
  /** The one door, as this caller: what a file's write changes passes the same checks as the call. */
  sys(call: string, args: Record<string, unknown>): Promise<unknown>;
  /** Fails where the caller has gone or lost the right to the call since it began; asked inside every change. */
  mustStillMay(): void;
};

export type Mount = {
  /** An absolute path; the longest that fits wins. */
  at: string;
  stat(who: Who, path: string): Promise<FileStat>;
  list(who: Who, path: string): Promise<FileEntry[]>;
  read(who: Who, path: string, range?: ByteRange): Promise<Uint8Array>;
  write(who: Who, path: string, content: Uint8Array, options: { ifVersion?: string }): Promise<void>;
  remove(who: Who, path: string): Promise<void>;
};

export const REFUSES: Omit<Mount, "at" | "stat"> = {
  async list(_who, path) {
    throw new FileError("ENOTDIR", path);
  },
  async read(_who, path) {
    throw new FileError("EISDIR", path);
  },
  async write(_who, path) {
    throw new FileError("EPERM", path);
  },
  async remove(_who, path) {
    throw new FileError("EPERM", path);
  },
};

/** A made-up tree of files whose content is computed when it is asked for. */
export type Synthetic = {
  /** The text of the file at this place below the mount, the names in the directory, or null where there is neither. */
  look(who: Who, names: readonly string[]): Promise<string | Uint8Array | readonly string[] | null>;
  write?(who: Who, names: readonly string[], text: string): Promise<void>;
};

export function synthetic(at: string, tree: Synthetic): Mount {
  const namesOf = (path: string) => path.slice(at.length).split("/").filter(Boolean);
  const look = async (who: Who, path: string) => (await tree.look(who, namesOf(path))) ?? fail(path);
  const bytesOf = async (who: Who, path: string) => {
    const found = await look(who, path);
    if (typeof found === "string") return new TextEncoder().encode(found);
    return found instanceof Uint8Array ? found : null;
  };
  return {
    ...REFUSES,
    at,
    async stat(who, path) {
      const bytes = await bytesOf(who, path);
      if (bytes === null) return { kind: "directory", size: 0, modifiedAt: 0, version: "" };
      return { kind: "file", size: bytes.length, modifiedAt: 0, version: "" };
    },
    async list(who, path) {
      const found = await look(who, path);
      if (typeof found === "string" || found instanceof Uint8Array) throw new FileError("ENOTDIR", path);
      const entries = found.map(async (name): Promise<FileEntry> => {
        const child = await tree.look(who, [...namesOf(path), name]);
        return { name, kind: typeof child === "string" || child instanceof Uint8Array ? "file" : "directory" };
      });
      return Promise.all(entries);
    },
    async read(who, path, range) {
      const bytes = (await bytesOf(who, path)) ?? raise("EISDIR", path);
      return range === undefined ? bytes : bytes.slice(range.start, range.end);
    },
    async write(who, path, content) {
      if (tree.write === undefined) throw new FileError("EPERM", path);
      await tree.write(who, namesOf(path), new TextDecoder().decode(content));
    },
  };
}

function fail(path: string): never {
  throw new FileError("ENOENT", path);
}

function raise(code: "EISDIR", path: string): never {
  throw new FileError(code, path);
}
