// A machine's real files behind the interface that fs.* uses. Paths are the machine's own: absolute paths unchanged, relative
// ones below the workspace, `~` the user's home. Nobody can do more through the daemon than its user may.

import { randomUUID } from "node:crypto";
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rename, rm, stat, unlink } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import {
  type ByteRange,
  type IncomingFile,
  type FileEntry,
  FileError,
  type FileErrorCode,
  type FileStat,
  type FileSystem,
  type OpenFile,
  type FileReceiver,
} from "../hardware/filesystem.ts";
import { namesSecret } from "../lib/secrets.ts";
import { searchWithRipgrep, type MatchingPaths } from "./ripgrep.ts";
import { newChunk } from "../protocol/body.ts";
import { type FileId, isOwnedByUs, isStillSameFile, openNew } from "../hosts/shared/own-files.ts";
import { LocalDirectories } from "./local.ts";
import { siblingPath, PartialUploads } from "./parts.ts";
import { partsFolder } from "./state.ts";

/** Reads up to this size on a local disk are synchronous. */
const SYNC_BYTES_MAX = 64 * 1024;
/** How much of an open file is read at most before the next check that it has not changed. */
const UNCHECKED_BYTES_MAX = 16 * 1024 * 1024;

export class MachineFiles implements FileSystem {
  readonly #workspace: string;
  readonly #parts: PartialUploads;
  readonly #rg: string | null;
  readonly #local = new LocalDirectories();

  /** Without ripgrep, a search reads all files itself. */
  constructor(workspace: string, rg: string | null = "rg", parts = partsFolder()) {
    this.#workspace = workspace;
    this.#rg = rg;
    this.#parts = new PartialUploads(parts);
  }

  resolve(path: string): string {
    if (path.includes("\0")) throw new FileError("EINVAL", path, "A path must not contain a NUL");
    if (path === "~" || path.startsWith("~/")) return resolve(homedir(), path.slice(2));
    return resolve(this.#workspace, path);
  }

  async stat(path: string): Promise<FileStat> {
    const found = this.#statSync(path) ?? (await mapErrors(path, stat(path, { bigint: true })));
    const kind = found.isFile() ? "file" : found.isDirectory() ? "directory" : "other";
    return {
      kind,
      size: Number(found.size),
      modifiedAt: Number(found.mtimeMs),
      mode: Number(found.mode) & 0o7777,
      uid: Number(found.uid),
      gid: Number(found.gid),
      version: kind === "file" ? versionOf(found) : "",
    };
  }

  async list(path: string): Promise<FileEntry[]> {
    await resolveLinks(path);
    const entries = await mapErrors(path, readdir(path, { withFileTypes: true }));
    return Promise.all(
      entries.map(async (entry): Promise<FileEntry> => {
        // A link counts as its target; a dangling one is neither.
        const linked = entry.isSymbolicLink() ? await stat(join(path, entry.name)).catch(() => null) : entry;
        return { name: entry.name, kind: linked?.isFile() ? "file" : linked?.isDirectory() ? "directory" : "other" };
      }),
    );
  }

  async findFilesContaining(root: string, text: string, ms: number, signal: AbortSignal): Promise<MatchingPaths | null> {
    return this.#rg === null ? null : searchWithRipgrep(this.#rg, root, text, ms, signal);
  }

  async read(path: string, range?: ByteRange): Promise<Uint8Array> {
    const bytes = range !== undefined && range.end - range.start <= SYNC_BYTES_MAX ? this.#readSync(path, range) : null;
    if (bytes !== null) return bytes;
    await resolveLinks(path);
    // Without O_NONBLOCK, opening a pipe without a writer would block forever.
    const handle = await mapErrors(path, open(path, constants.O_RDONLY | constants.O_NONBLOCK));
    try {
      const found = await handle.stat({ bigint: true });
      if (found.isDirectory()) throw new FileError("EISDIR", path);
      if (range?.ifVersion !== undefined && range.ifVersion !== versionOf(found)) throw new FileError("ESTALE", path);
      if (range === undefined) return await mapErrors(path, handle.readFile());
      return await mapErrors(path, readRange(handle, range.start, range.end));
    } finally {
      // The caller has the bytes and need not wait for the close.
      handle.close().catch(() => {});
    }
  }

  async open(path: string, version: string): Promise<OpenFile> {
    await resolveLinks(path);
    const handle = await mapErrors(path, open(path, constants.O_RDONLY | constants.O_NONBLOCK));
    let unchecked = 0;
    const check = async (): Promise<number> => {
      const found = await handle.stat({ bigint: true });
      if (versionOf(found) !== version) throw new FileError("ESTALE", path);
      unchecked = 0;
      return Number(found.size);
    };
    try {
      const size = await check();
      return {
        async read(start, end) {
          const bytes = await mapErrors(path, readRange(handle, start, end));
          unchecked += bytes.length;
          // Unchanged after the last piece means unchanged during all of them.
          if (start + bytes.length >= size || bytes.length < end - start || unchecked >= UNCHECKED_BYTES_MAX) await check();
          return bytes;
        },
        close: () => handle.close(),
      };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Writes a temporary file beside the old one and renames it: a concurrent reader sees either the old or the new content. */
  async write(path: string, content: Uint8Array, { ifVersion }: { ifVersion?: string } = {}): Promise<void> {
    await mapErrors(path, mkdir(dirname(path), { recursive: true }));
    // Follows a link, like any editor: the target is written, and the link stays.
    const target = await resolveLinks(path);
    const existing = await lstat(target, { bigint: true }).catch(() => null);
    if (existing?.isDirectory()) throw new FileError("EISDIR", path);
    if (existing !== null && !existing.isFile()) return this.#writeInto(target, content);
    const temporary = siblingPath(target, `${randomUUID()}.gsv`);
    try {
      // Private until it is complete. The mode is set on the open handle, because the name may be a link by then.
      const handle = await mapErrors(path, openNew(temporary));
      let identity: FileId;
      try {
        identity = await handle.stat({ bigint: true });
        await mapErrors(path, handle.writeFile(content));
        await mapErrors(path, handle.chmod(existing === null ? modeOfNewFile() : modeOfReplaced(existing)));
        await mapErrors(path, handle.sync());
      } finally {
        await handle.close();
      }
      if (
        ifVersion !== undefined &&
        (existing === null || versionOf(existing) !== ifVersion || (await this.stat(target)).version !== ifVersion)
      )
        throw new FileError("ESTALE", path);
      if (!(await isStillSameFile(temporary, identity))) throw replacedError(path);
      await mapErrors(path, rename(temporary, target));
    } catch (error) {
      await unlink(temporary).catch(() => {});
      throw error;
    }
  }

  /** The content grows beside the old file until it is complete: parts.ts. */
  async receive(path: string, { size, tag, mode }: IncomingFile): Promise<FileReceiver> {
    await mapErrors(path, mkdir(dirname(path), { recursive: true }));
    const target = await resolveLinks(path);
    const existing = await lstat(target, { bigint: true }).catch(() => null);
    if (existing?.isDirectory()) throw new FileError("EISDIR", path);
    if (existing !== null && !existing.isFile()) throw new FileError("EINVAL", path, `Not a regular file: ${path}. Nothing was copied`);
    const part = await mapErrors(path, this.#parts.open(target, size, tag));
    if (part === null) throw new FileError("EINVAL", path, `The same is on its way to ${path} already: wait for it`);
    const { handle } = part;
    const have = await handle
      .stat()
      .then((found) => (found.size <= size ? found.size : handle.truncate(0).then(() => 0)))
      .catch(async (error: unknown) => {
        await part.close(false);
        throw error;
      });
    let at = have;
    return {
      have,
      read: (start, end) => mapErrors(path, readRange(handle, start, Math.min(end, have))),
      write: async (chunk) => {
        for (let done = 0; done < chunk.length;) {
          const { bytesWritten } = await mapErrors(path, handle.write(chunk, done, chunk.length - done, at));
          done += bytesWritten;
          at += bytesWritten;
        }
      },
      finish: async () => {
        await mapErrors(path, handle.sync());
        await mapErrors(path, handle.chmod(existing === null ? modeOfNewFile(mode) : modeOfReplaced(existing)));
        if (!(await mapErrors(path, part.commit()))) throw replacedError(path);
      },
      abandon: (forget) => part.close(!forget && at > 0),
    };
  }

  async remove(path: string): Promise<void> {
    if (resolve(path) === resolve("/")) throw new FileError("EPERM", path);
    await mapErrors(path, rm(path, { recursive: true }));
  }

  /** Null if it may block, or is neither a plain file nor a directory. */
  #statSync(path: string): BigIntStats | null {
    const directory = dirname(path);
    if (!this.#local.has(directory)) {
      void this.#local.check(directory);
      return null;
    }
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return found?.isFile() || found?.isDirectory() ? found : null;
  }

  /** The same for a few bytes of a file. */
  #readSync(path: string, { start, end, ifVersion }: ByteRange): Uint8Array | null {
    if (!this.#local.has(dirname(path))) return null;
    let handle: number;
    try {
      handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    } catch {
      return null;
    }
    try {
      const found = fstatSync(handle, { bigint: true });
      if (!found.isFile()) return null;
      if (ifVersion !== undefined && ifVersion !== versionOf(found)) throw new FileError("ESTALE", path);
      const bytes = new Uint8Array(Math.max(0, end - start));
      return bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, start));
    } finally {
      closeSync(handle);
    }
  }

  /** Device files and pipes are written to, never replaced. */
  async #writeInto(path: string, content: Uint8Array): Promise<void> {
    const handle = await mapErrors(path, open(path, constants.O_WRONLY | constants.O_NONBLOCK));
    try {
      await mapErrors(path, handle.writeFile(content));
    } finally {
      await handle.close();
    }
  }
}

/**
 * Resolves the links of a path. Approvals judge a path as it is written, so a path must not lead through a link to a place with
 * secrets: a repository may contain such a link. Every caller is refused, because a device does not know what a person has seen.
 */
async function resolveLinks(path: string): Promise<string> {
  // For a missing file, where it would be. A path that may not be read fails later by itself.
  const target = await realpath(path).catch(() =>
    realpath(dirname(path)).then(
      (directory) => join(directory, basename(path)),
      () => path,
    ),
  );
  if (target !== path && namesSecret(target) && !namesSecret(path))
    throw new FileError("EINVAL", path, `${path} leads through a link to ${target}, which may contain secrets. To use it, give that path`);
  return target;
}

async function readRange(handle: FileHandle, start: number, end: number): Promise<Uint8Array> {
  const bytes = newChunk(Math.max(0, end - start));
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled === bytes.length ? bytes : bytes.subarray(0, filled);
}

/** The mode the system would give a new file. */
function modeOfNewFile(mode = 0o666): number {
  return mode & ~process.umask();
}

/** The mode of the file it replaces. Another user's setuid program must not become one that runs as us. */
function modeOfReplaced(existing: BigIntStats): number {
  return Number(existing.mode) & (isOwnedByUs(existing) ? 0o7777 : 0o777);
}

function replacedError(path: string): FileError {
  return new FileError(
    "EINVAL",
    path,
    `The temporary file for ${path} was replaced by another program, so ${path} was not changed: try again`,
  );
}

type Versioned = { ino: bigint; size: bigint; mtimeNs: bigint; ctimeNs: bigint };

function versionOf({ ino, size, mtimeNs, ctimeNs }: Versioned): string {
  return [ino, size, mtimeNs, ctimeNs].join("-");
}

const CODES: Readonly<Record<string, FileErrorCode>> = {
  ENOENT: "ENOENT",
  EACCES: "EACCES",
  EPERM: "EPERM",
  EISDIR: "EISDIR",
  ENOTDIR: "ENOTDIR",
  EEXIST: "EEXIST",
  ENOTEMPTY: "ENOTEMPTY",
  EINVAL: "EINVAL",
  ENAMETOOLONG: "ENAMETOOLONG",
  ENOSPC: "ENOSPC",
  EDQUOT: "EDQUOT",
  EROFS: "EPERM",
  EFBIG: "EFBIG",
  ELOOP: "EINVAL",
};

/** Turns the machine's errors into FileErrors. */
async function mapErrors<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof FileError) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new FileError(CODES[code] ?? "EINVAL", path, CODES[code] === undefined || code === "ELOOP" ? message : undefined);
  }
}
