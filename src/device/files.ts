// A machine's real files behind the interface that fs.* works on. Paths are the machine's own: absolute as they are,
// relative ones below the workspace, `~` the user's home. What the user of the daemon may not do, nobody may through it.

import { randomUUID } from "node:crypto";
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rename, rm, stat, unlink } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import {
  type ByteRange,
  type Coming,
  type FileEntry,
  FileError,
  type FileErrorCode,
  type FileStat,
  type FileSystem,
  type OpenFile,
  type Receipt,
} from "../hardware/filesystem.ts";
import { namesSecret } from "../lib/secrets.ts";
import { filesHolding, type Holding } from "./ripgrep.ts";
import { newChunk } from "../protocol/body.ts";
import { type Identity, isOurs, isStill, openNew } from "../hosts/node/own-files.ts";
import { LocalDirectories } from "./local.ts";
import { besideOf, Parts } from "./parts.ts";
import { partsFolder } from "./state.ts";

/** What is read at once where the disk is near. */
const NOW_BYTES_MAX = 64 * 1024;
/** How much of an open file is read at most before it is looked whether it is still the same. */
const UNCHECKED_BYTES_MAX = 16 * 1024 * 1024;

export class MachineFiles implements FileSystem {
  readonly #workspace: string;
  readonly #parts: Parts;
  readonly #rg: string | null;
  readonly #local = new LocalDirectories();

  /** Without a ripgrep, everything is read here. */
  constructor(workspace: string, rg: string | null = "rg", parts = partsFolder()) {
    this.#workspace = workspace;
    this.#rg = rg;
    this.#parts = new Parts(parts);
  }

  resolve(path: string): string {
    if (path.includes("\0")) throw new FileError("EINVAL", path, "A path must not hold a NUL");
    if (path === "~" || path.startsWith("~/")) return resolve(homedir(), path.slice(2));
    return resolve(this.#workspace, path);
  }

  async stat(path: string): Promise<FileStat> {
    const found = this.#statNow(path) ?? (await told(path, stat(path, { bigint: true })));
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
    await mustSayWhere(path);
    const entries = await told(path, readdir(path, { withFileTypes: true }));
    return Promise.all(
      entries.map(async (entry): Promise<FileEntry> => {
        // A link is what it leads to; one that leads nowhere is neither.
        const target = entry.isSymbolicLink() ? await stat(join(path, entry.name)).catch(() => null) : entry;
        return { name: entry.name, kind: target?.isFile() ? "file" : target?.isDirectory() ? "directory" : "other" };
      }),
    );
  }

  async filesHolding(root: string, text: string, ms: number, signal: AbortSignal): Promise<Holding | null> {
    return this.#rg === null ? null : filesHolding(this.#rg, root, text, ms, signal);
  }

  async read(path: string, range?: ByteRange): Promise<Uint8Array> {
    const now = range !== undefined && range.end - range.start <= NOW_BYTES_MAX ? this.#readNow(path, range) : null;
    if (now !== null) return now;
    await mustSayWhere(path);
    // Opening a pipe that nobody writes to would wait for ever.
    const handle = await told(path, open(path, constants.O_RDONLY | constants.O_NONBLOCK));
    try {
      const found = await handle.stat({ bigint: true });
      if (found.isDirectory()) throw new FileError("EISDIR", path);
      if (range?.ifVersion !== undefined && range.ifVersion !== versionOf(found)) throw new FileError("ESTALE", path);
      if (range === undefined) return await told(path, handle.readFile());
      return await told(path, readRange(handle, range.start, range.end));
    } finally {
      // Nobody who has what they wanted waits for it to be closed.
      handle.close().catch(() => {});
    }
  }

  async open(path: string, version: string): Promise<OpenFile> {
    await mustSayWhere(path);
    const handle = await told(path, open(path, constants.O_RDONLY | constants.O_NONBLOCK));
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
          const bytes = await told(path, readRange(handle, start, end));
          unchecked += bytes.length;
          // Looked at after the last piece, it was the same during all of them.
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

  /** Beside the old one first, then in its place: whoever reads meanwhile sees one or the other. */
  async write(path: string, content: Uint8Array, { ifVersion }: { ifVersion?: string } = {}): Promise<void> {
    await told(path, mkdir(dirname(path), { recursive: true }));
    // Through a link, as any editor: the file it leads to is written, and the link stays.
    const place = await mustSayWhere(path);
    const there = await lstat(place, { bigint: true }).catch(() => null);
    if (there?.isDirectory()) throw new FileError("EISDIR", path);
    if (there !== null && !there.isFile()) return this.#into(place, content);
    const temporary = besideOf(place, `${randomUUID()}.gsv`);
    try {
      // Private until it is whole, and its mode is set by what was opened, not by a name that may be a link by then.
      const handle = await told(path, openNew(temporary));
      let made: Identity;
      try {
        made = await handle.stat({ bigint: true });
        await told(path, handle.writeFile(content));
        await told(path, handle.chmod(there === null ? newMode() : modeLike(there)));
        await told(path, handle.sync());
      } finally {
        await handle.close();
      }
      if (ifVersion !== undefined && (there === null || versionOf(there) !== ifVersion || (await this.stat(place)).version !== ifVersion))
        throw new FileError("ESTALE", path);
      if (!(await isStill(temporary, made))) throw taken(path);
      await told(path, rename(temporary, place));
    } catch (error) {
      await unlink(temporary).catch(() => {});
      throw error;
    }
  }

  /** Beside the old one until it is whole: parts.ts. */
  async receive(path: string, { size, tag, mode }: Coming): Promise<Receipt> {
    await told(path, mkdir(dirname(path), { recursive: true }));
    const place = await mustSayWhere(path);
    const there = await lstat(place, { bigint: true }).catch(() => null);
    if (there?.isDirectory()) throw new FileError("EISDIR", path);
    if (there !== null && !there.isFile()) throw new FileError("EINVAL", path, `Not a file, so nothing is copied there: ${path}`);
    const part = await told(path, this.#parts.open(place, size, tag));
    if (part === null) throw new FileError("EINVAL", path, `The same is on its way to ${path} already: wait for it`);
    const { handle } = part;
    const have = await handle
      .stat()
      .then((found) => (found.size <= size ? found.size : handle.truncate(0).then(() => 0)))
      .catch(async (error: unknown) => {
        await part.leave(false);
        throw error;
      });
    let at = have;
    return {
      have,
      read: (start, end) => told(path, readRange(handle, start, Math.min(end, have))),
      write: async (chunk) => {
        for (let done = 0; done < chunk.length;) {
          const { bytesWritten } = await told(path, handle.write(chunk, done, chunk.length - done, at));
          done += bytesWritten;
          at += bytesWritten;
        }
      },
      finish: async () => {
        await told(path, handle.sync());
        await told(path, handle.chmod(there === null ? newMode(mode) : modeLike(there)));
        if (!(await told(path, part.settle()))) throw taken(path);
      },
      leave: (forget) => part.leave(!forget && at > 0),
    };
  }

  async remove(path: string): Promise<void> {
    if (resolve(path) === resolve("/")) throw new FileError("EPERM", path);
    await told(path, rm(path, { recursive: true }));
  }

  /** Null where it may take long, or is not simply a file or a directory. */
  #statNow(path: string): BigIntStats | null {
    const directory = dirname(path);
    if (!this.#local.has(directory)) {
      void this.#local.learn(directory);
      return null;
    }
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return found?.isFile() || found?.isDirectory() ? found : null;
  }

  /** The same of a few bytes of a file. */
  #readNow(path: string, { start, end, ifVersion }: ByteRange): Uint8Array | null {
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

  /** A device file or a pipe is written to, never replaced. */
  async #into(path: string, content: Uint8Array): Promise<void> {
    const handle = await told(path, open(path, constants.O_WRONLY | constants.O_NONBLOCK));
    try {
      await told(path, handle.writeFile(content));
    } finally {
      await handle.close();
    }
  }
}

/**
 * Where a path leads to. Approvals judge a path as it is written, so one that leads by a link to where secrets are has to say so:
 * a repository may bring such a link. Whoever asks is refused, because a device does not know what a person has seen.
 */
async function mustSayWhere(path: string): Promise<string> {
  // Of one that is not there yet, where it would be; what may not be looked at fails by itself.
  const place = await realpath(path).catch(() =>
    realpath(dirname(path)).then(
      (directory) => join(directory, basename(path)),
      () => path,
    ),
  );
  if (place !== path && namesSecret(place) && !namesSecret(path))
    throw new FileError(
      "EINVAL",
      path,
      `${path} leads by a link to ${place}, where secrets may be. If you mean that, name it by that path`,
    );
  return place;
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

/** As the system would have it for a new file. */
function newMode(mode = 0o666): number {
  return mode & ~process.umask();
}

/** That of the file it replaces. Somebody else's program must not become one that runs as us. */
function modeLike(there: BigIntStats): number {
  return Number(there.mode) & (isOurs(there) ? 0o7777 : 0o777);
}

function taken(path: string): FileError {
  return new FileError("EINVAL", path, `Somebody replaced what was being written beside ${path}, so it was left as it is: try again`);
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

/** The machine's error in the words of files. */
async function told<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof FileError) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new FileError(CODES[code] ?? "EINVAL", path, CODES[code] === undefined || code === "ELOOP" ? message : undefined);
  }
}
