// A mount: one part of the tree, as a record of operations whose defaults refuse. A new part is one file that exports such a
// record. Each operation receives `who`; there is no ambient caller.

import { type ByteRange, type IncomingFile, type FileEntry, FileError, type FileStat, type FileReceiver } from "../hardware/filesystem.ts";

export type Who = {
  uid: number;
  gid: number;
  gids: readonly number[];
  username: string;
  home: string;
  cwd: string;
  /** The id of the calling process, or of the connection if no process calls. */
  pid?: string;
  /** The profile, if an agent calls: what it reads goes to a model, so it gets no secrets. */
  agent?: string;
  workspaceId?: string | null;
  /** For files that the kernel stores on the user's behalf. */
  mayExceedQuota?: boolean;
  /** Makes a call through the gate as this caller, so that a write to a file passes the same checks as the call. */
  runSyscall(call: string, args: Record<string, unknown>): Promise<unknown>;
  /** Fails if the caller has disconnected or lost the right to the call since it began; checked inside every change. */
  checkStillAllowed(): void;
};

export type Mount = {
  /** An absolute path; the longest match wins. */
  at: string;
  stat(who: Who, path: string): Promise<FileStat>;
  list(who: Who, path: string): Promise<FileEntry[]>;
  read(who: Who, path: string, range?: ByteRange): Promise<Uint8Array>;
  write(who: Who, path: string, content: Uint8Array, options: { ifVersion?: string }): Promise<void>;
  remove(who: Who, path: string): Promise<void>;
  /** Creates the file if it does not exist, and missing directories as a write does. */
  append(who: Who, path: string, content: Uint8Array): Promise<void>;
  /** Creates only the last name: the parent directory must exist. */
  makeDirectory(who: Who, path: string): Promise<void>;
  /** Renames a file, or a directory with everything below it; both paths belong to this mount. */
  rename(who: Who, from: string, to: string): Promise<void>;
  setMode(who: Who, path: string, mode: number): Promise<void>;
  /** null leaves the value as it is. */
  setOwner(who: Who, path: string, uid: number | null, gid: number | null): Promise<void>;
  setModified(who: Who, path: string, ms: number): Promise<void>;
  /** The first bytes of many files in one request; null for a file that cannot be read. For mounts where a request is expensive. */
  readFirstBytes?(who: Who, paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]>;
  /** For mounts that do not have to hold a whole file in memory while it is uploaded. */
  receive?(who: Who, path: string, coming: IncomingFile): Promise<FileReceiver>;
};

const FILE_BYTES_MAX = 256 * 1024 * 1024;

/** A file is in memory while it is written, so its size is limited. */
export function mustFit(path: string, bytes: number): void {
  if (bytes > FILE_BYTES_MAX) throw new FileError("EFBIG", path, "A file may have at most 256 MiB: split it");
}

export const REFUSING_OPERATIONS: Omit<Mount, "at" | "stat" | "readFirstBytes" | "receive"> = {
  async list(_who, path) {
    throw new FileError("ENOTDIR", path);
  },
  async read(_who, path) {
    throw new FileError("EISDIR", path);
  },
  write: refuseOperation,
  remove: refuseOperation,
  append: refuseOperation,
  makeDirectory: refuseOperation,
  rename: refuseOperation,
  setMode: refuseOperation,
  setOwner: refuseOperation,
  setModified: refuseOperation,
};

async function refuseOperation(_who: Who, path: string): Promise<void> {
  throw new FileError("EPERM", path);
}

/** A tree of files whose content is computed when it is read. */
export type SyntheticTree = {
  /**
   * The text of the file at this path below the mount, the entries of the directory, or null if there is neither. An entry
   * that is only a name is looked up again to find its kind.
   */
  lookUp(who: Who, names: readonly string[]): Promise<string | Uint8Array | readonly (string | FileEntry)[] | null>;
  write?(who: Who, names: readonly string[], text: string): Promise<void>;
  append?(who: Who, names: readonly string[], text: string): Promise<void>;
  /** The mode of a file for this caller; 0444 by default. */
  mode?(who: Who, names: readonly string[]): number;
  /** Whether files have versions, for files that change seldom and are edited. The content itself is the version. */
  isVersioned?: boolean;
};

export function makeSyntheticMount(at: string, tree: SyntheticTree): Mount {
  const namesOf = (path: string) => path.slice(at.length).split("/").filter(Boolean);
  const mustLookUp = async (who: Who, path: string) => (await tree.lookUp(who, namesOf(path))) ?? raiseMissing(path);
  const readBytes = async (who: Who, path: string) => {
    const found = await mustLookUp(who, path);
    if (typeof found === "string") return new TextEncoder().encode(found);
    return found instanceof Uint8Array ? found : null;
  };
  const versionOf = (bytes: Uint8Array) => (tree.isVersioned === true ? new TextDecoder().decode(bytes) : "");
  const checkVersion = (path: string, bytes: Uint8Array, version: string | undefined) => {
    if (version !== undefined && version !== versionOf(bytes)) throw new FileError("ESTALE", path);
  };
  return {
    ...REFUSING_OPERATIONS,
    at,
    async stat(who, path) {
      const bytes = await readBytes(who, path);
      const rest = { modifiedAt: 0, uid: 0, gid: 0 };
      if (bytes === null) return { kind: "directory", size: 0, mode: 0o555, version: "", ...rest };
      const mode = tree.mode?.(who, namesOf(path)) ?? 0o444;
      return { kind: "file", size: bytes.length, mode, version: versionOf(bytes), ...rest };
    },
    async list(who, path) {
      const found = await mustLookUp(who, path);
      if (typeof found === "string" || found instanceof Uint8Array) throw new FileError("ENOTDIR", path);
      const entries = found.map(async (name): Promise<FileEntry> => {
        if (typeof name !== "string") return name;
        const child = await tree.lookUp(who, [...namesOf(path), name]);
        return { name, kind: typeof child === "string" || child instanceof Uint8Array ? "file" : "directory" };
      });
      return Promise.all(entries);
    },
    async read(who, path, range) {
      const bytes = (await readBytes(who, path)) ?? raise("EISDIR", path);
      checkVersion(path, bytes, range?.ifVersion);
      return range === undefined ? bytes : bytes.slice(range.start, range.end);
    },
    async write(who, path, content, { ifVersion }) {
      if (tree.write === undefined) throw new FileError("EPERM", path);
      if (ifVersion !== undefined && tree.isVersioned === true)
        checkVersion(path, (await readBytes(who, path)) ?? new Uint8Array(), ifVersion);
      await tree.write(who, namesOf(path), new TextDecoder().decode(content));
    },
    async append(who, path, content) {
      if (tree.append === undefined) throw new FileError("EPERM", path);
      await tree.append(who, namesOf(path), new TextDecoder().decode(content));
    },
    async makeDirectory(who, path) {
      throw new FileError((await tree.lookUp(who, namesOf(path))) === null ? "EPERM" : "EEXIST", path);
    },
  };
}

function raiseMissing(path: string): never {
  throw new FileError("ENOENT", path);
}

function raise(code: "EISDIR", path: string): never {
  throw new FileError(code, path);
}
