// A mount: one part of the tree, as a record of operations with defaults that refuse. A new part is one file that ends
// in such a record. `who` is passed to each operation; nothing here is ambient.

import { type ByteRange, type Coming, type FileEntry, FileError, type FileStat, type Receipt } from "../hardware/filesystem.ts";

export type Who = {
  uid: number;
  gid: number;
  gids: readonly number[];
  username: string;
  home: string;
  cwd: string;
  /** Of the calling process; of the connection where there is none. */
  pid?: string;
  /** The profile of an agent that looks: what it reads goes to a model, so it is shown no secrets. */
  agent?: string;
  workspaceId?: string | null;
  /** For what the kernel keeps in their name. */
  mayExceedQuota?: boolean;
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
  /** Makes the file where there is none, and the directories on the way as a write does. */
  append(who: Who, path: string, content: Uint8Array): Promise<void>;
  /** Only the last name is made: what it is in must be there. */
  makeDirectory(who: Who, path: string): Promise<void>;
  /** A file, or a directory with all below it; both names are of this mount. */
  rename(who: Who, from: string, to: string): Promise<void>;
  setMode(who: Who, path: string, mode: number): Promise<void>;
  /** null leaves it as it is. */
  setOwner(who: Who, path: string, uid: number | null, gid: number | null): Promise<void>;
  setModified(who: Who, path: string, ms: number): Promise<void>;
  /** The first bytes of many files in one request, null for what cannot be read; where a request costs more than a look at rows. */
  readHeads?(who: Who, paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]>;
  /** Where a file need not be held whole while it comes. */
  receive?(who: Who, path: string, coming: Coming): Promise<Receipt>;
};

const FILE_BYTES_MAX = 256 * 1024 * 1024;

/** A file is held in memory while it is written, so there is an end to its size. */
export function mustFit(path: string, bytes: number): void {
  if (bytes > FILE_BYTES_MAX) throw new FileError("EFBIG", path, "A file holds at most 256 MiB: split it");
}

export const REFUSES: Omit<Mount, "at" | "stat" | "readHeads" | "receive"> = {
  async list(_who, path) {
    throw new FileError("ENOTDIR", path);
  },
  async read(_who, path) {
    throw new FileError("EISDIR", path);
  },
  write: notPermitted,
  remove: notPermitted,
  append: notPermitted,
  makeDirectory: notPermitted,
  rename: notPermitted,
  setMode: notPermitted,
  setOwner: notPermitted,
  setModified: notPermitted,
};

async function notPermitted(_who: Who, path: string): Promise<void> {
  throw new FileError("EPERM", path);
}

/** A made-up tree of files whose content is computed when it is asked for. */
export type Synthetic = {
  /**
   * The text of the file at this place below the mount, what is in the directory, or null where there is neither. A bare
   * name in a directory is looked at again to see what it is.
   */
  look(who: Who, names: readonly string[]): Promise<string | Uint8Array | readonly (string | FileEntry)[] | null>;
  write?(who: Who, names: readonly string[], text: string): Promise<void>;
  append?(who: Who, names: readonly string[], text: string): Promise<void>;
  /** A file's mode as it is for this caller; 0444 where it is not told. */
  mode?(who: Who, names: readonly string[]): number;
  /** Its files change seldom and are edited: what was read is its own version. */
  isVersioned?: boolean;
};

export function synthetic(at: string, tree: Synthetic): Mount {
  const namesOf = (path: string) => path.slice(at.length).split("/").filter(Boolean);
  const look = async (who: Who, path: string) => (await tree.look(who, namesOf(path))) ?? fail(path);
  const bytesOf = async (who: Who, path: string) => {
    const found = await look(who, path);
    if (typeof found === "string") return new TextEncoder().encode(found);
    return found instanceof Uint8Array ? found : null;
  };
  const versionOf = (bytes: Uint8Array) => (tree.isVersioned === true ? new TextDecoder().decode(bytes) : "");
  const mustBe = (path: string, bytes: Uint8Array, version: string | undefined) => {
    if (version !== undefined && version !== versionOf(bytes)) throw new FileError("ESTALE", path);
  };
  return {
    ...REFUSES,
    at,
    async stat(who, path) {
      const bytes = await bytesOf(who, path);
      const rest = { modifiedAt: 0, uid: 0, gid: 0 };
      if (bytes === null) return { kind: "directory", size: 0, mode: 0o555, version: "", ...rest };
      const mode = tree.mode?.(who, namesOf(path)) ?? 0o444;
      return { kind: "file", size: bytes.length, mode, version: versionOf(bytes), ...rest };
    },
    async list(who, path) {
      const found = await look(who, path);
      if (typeof found === "string" || found instanceof Uint8Array) throw new FileError("ENOTDIR", path);
      const entries = found.map(async (name): Promise<FileEntry> => {
        if (typeof name !== "string") return name;
        const child = await tree.look(who, [...namesOf(path), name]);
        return { name, kind: typeof child === "string" || child instanceof Uint8Array ? "file" : "directory" };
      });
      return Promise.all(entries);
    },
    async read(who, path, range) {
      const bytes = (await bytesOf(who, path)) ?? raise("EISDIR", path);
      mustBe(path, bytes, range?.ifVersion);
      return range === undefined ? bytes : bytes.slice(range.start, range.end);
    },
    async write(who, path, content, { ifVersion }) {
      if (tree.write === undefined) throw new FileError("EPERM", path);
      if (ifVersion !== undefined && tree.isVersioned === true) mustBe(path, (await bytesOf(who, path)) ?? new Uint8Array(), ifVersion);
      await tree.write(who, namesOf(path), new TextDecoder().decode(content));
    },
    async append(who, path, content) {
      if (tree.append === undefined) throw new FileError("EPERM", path);
      await tree.append(who, namesOf(path), new TextDecoder().decode(content));
    },
    async makeDirectory(who, path) {
      throw new FileError((await tree.look(who, namesOf(path))) === null ? "EPERM" : "EEXIST", path);
    },
  };
}

function fail(path: string): never {
  throw new FileError("ENOENT", path);
}

function raise(code: "EISDIR", path: string): never {
  throw new FileError(code, path);
}
