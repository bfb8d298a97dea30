// Uploads in progress: each grows as a hidden file beside its target, under a name derived from the content's tag and size, so
// that a retry finds it. Others may write to that directory, so a file is never adopted because of its name alone: it must be a
// private file of ours that we have recorded. Anything else is left alone, and the upload grows under another name.

import { createHash, randomUUID } from "node:crypto";
import { type BigIntStats, lstatSync, mkdirSync, rmSync } from "node:fs";
import { type FileHandle, lstat, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type FileId, isPrivate, isStillSameFile, openNew, openPrivate, readOwnFile, replaceFile } from "../hosts/shared/own-files.ts";

export type PartialUpload = {
  handle: FileHandle;
  /** Renames it to its target. False if another file has taken its name meanwhile; then nothing has changed. */
  commit(): Promise<boolean>;
  /** Closes it; `isKept` keeps it for a retry, if a retry can find it. */
  close(isKept: boolean): Promise<void>;
};

/** The limit for names on all common file systems. */
const NAME_BYTES_MAX = 255;

export class PartialUploads {
  readonly #folder: string;
  readonly #openParts = new Set<string>();

  /** `folder` records which parts were made here, one small file each. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Null if the same upload is already in progress. Without a tag a part cannot be resumed. */
  async open(target: string, size: number, tag: string | undefined): Promise<PartialUpload | null> {
    const file = partPath(target, `${tag ?? randomUUID()} ${size}`);
    if (this.#openParts.has(file)) return null;
    this.#openParts.add(file);
    try {
      return (tag === undefined ? null : await this.#openResumable(file, target)) ?? (await this.#openTemporary(file, target));
    } catch (error) {
      this.#openParts.delete(file);
      throw error;
    }
  }

  /** Null if another file has the name, or the part cannot be recorded. */
  async #openResumable(file: string, target: string): Promise<PartialUpload | null> {
    const isThere = (await lstat(file).catch(() => null)) !== null;
    const handle = isThere ? await openPrivate(file) : await openNew(file).catch(() => null);
    if (handle === null) return null;
    const opened = await handle.stat({ bigint: true });
    if (isThere ? this.#isRecorded(file, opened) : this.#writeRecord(file, opened))
      return this.#makeUpload(file, target, handle, opened, file);
    await handle.close();
    if (!isThere) await unlink(file).catch(() => {});
    return null;
  }

  async #openTemporary(name: string, target: string): Promise<PartialUpload> {
    const file = partPath(target, randomUUID());
    const handle = await openNew(file);
    return this.#makeUpload(file, target, handle, await handle.stat({ bigint: true }), name);
  }

  #makeUpload(file: string, target: string, handle: FileHandle, opened: FileId, name: string): PartialUpload {
    const forget = () => rmSync(this.#recordPath(file), { force: true });
    return {
      handle,
      commit: async () => {
        const isOurs = await isStillSameFile(file, opened);
        await handle.close();
        if (isOurs) await rename(file, target);
        forget();
        this.#openParts.delete(name);
        return isOurs;
      },
      close: async (isKept) => {
        await handle.close().catch(() => {});
        if (!(isKept && file === name)) {
          if (await isStillSameFile(file, opened)) await unlink(file).catch(() => {});
          forget();
        }
        this.#openParts.delete(name);
      },
    };
  }

  #isRecorded(file: string, opened: BigIntStats): boolean {
    try {
      return this.#isPrivate() && readOwnFile(this.#recordPath(file)) === `${fileIdentity(opened)}\n`;
    } catch {
      return false;
    }
  }

  #writeRecord(file: string, opened: BigIntStats): boolean {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      if (!this.#isPrivate()) return false;
      replaceFile(this.#recordPath(file), `${fileIdentity(opened)}\n`);
      return true;
    } catch {
      return false;
    }
  }

  #isPrivate(): boolean {
    const found = lstatSync(this.#folder, { bigint: true });
    return found.isDirectory() && isPrivate(found);
  }

  #recordPath(file: string): string {
    return join(this.#folder, hashOf(file));
  }
}

/** A deleted file's inode number may be reused, but not its birth time. */
function fileIdentity({ dev, ino, birthtimeNs }: BigIntStats): string {
  return [dev, ino, birthtimeNs].join(":");
}

function partPath(target: string, what: string): string {
  return siblingPath(target, `${hashOf(what)}.gsv-part`);
}

/**
 * The path of a hidden file beside another, with as much of its name as fits: file systems count bytes, and a character takes up
 * to four.
 */
export function siblingPath(target: string, end: string): string {
  const bytes = new TextEncoder().encode(basename(target));
  // Streaming mode drops a character that was cut in two.
  const start = new TextDecoder().decode(bytes.subarray(0, NAME_BYTES_MAX - end.length - 2), { stream: true });
  return join(dirname(target), `.${start}.${end}`);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
