// Files on their way: each grows as a hidden file beside the place it will take, under a name that says what it will be, so
// that a later try finds it. Others may write to that directory, so nothing is adopted because of its name: it must be a
// private file of ours that we remember having made. Anything else is left alone, and the file grows under another name.

import { createHash, randomUUID } from "node:crypto";
import { type BigIntStats, lstatSync, mkdirSync, rmSync } from "node:fs";
import { type FileHandle, lstat, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Identity, isPrivate, isStill, openNew, openPrivate, readOwn, replaceFile } from "../hosts/node/own-files.ts";

export type Part = {
  handle: FileHandle;
  /** Puts it in the place. False where somebody has taken its name meanwhile: then nothing has changed. */
  settle(): Promise<boolean>;
  /** Kept for a later try, where one can find it. */
  leave(isKept: boolean): Promise<void>;
};

/** Of a name, on every file system that people have. */
const NAME_BYTES_MAX = 255;

export class Parts {
  readonly #folder: string;
  readonly #growing = new Set<string>();

  /** `folder` remembers which parts were made here, one small file each. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Null where the same is on its way already. Without a tag nothing is found again. */
  async open(place: string, size: number, tag: string | undefined): Promise<Part | null> {
    const file = partName(place, `${tag ?? randomUUID()} ${size}`);
    if (this.#growing.has(file)) return null;
    this.#growing.add(file);
    try {
      return (tag === undefined ? null : await this.#resumable(file, place)) ?? (await this.#fleeting(file, place));
    } catch (error) {
      this.#growing.delete(file);
      throw error;
    }
  }

  /** Null where something else has the name, or nothing can be remembered. */
  async #resumable(file: string, place: string): Promise<Part | null> {
    const isThere = (await lstat(file).catch(() => null)) !== null;
    const handle = isThere ? await openPrivate(file) : await openNew(file).catch(() => null);
    if (handle === null) return null;
    const opened = await handle.stat({ bigint: true });
    if (isThere ? this.#remembers(file, opened) : this.#remember(file, opened)) return this.#part(file, place, handle, opened, file);
    await handle.close();
    if (!isThere) await unlink(file).catch(() => {});
    return null;
  }

  async #fleeting(name: string, place: string): Promise<Part> {
    const file = partName(place, randomUUID());
    const handle = await openNew(file);
    return this.#part(file, place, handle, await handle.stat({ bigint: true }), name);
  }

  #part(file: string, place: string, handle: FileHandle, opened: Identity, name: string): Part {
    const forget = () => rmSync(this.#record(file), { force: true });
    return {
      handle,
      settle: async () => {
        const isOurs = await isStill(file, opened);
        await handle.close();
        if (isOurs) await rename(file, place);
        forget();
        this.#growing.delete(name);
        return isOurs;
      },
      leave: async (isKept) => {
        await handle.close().catch(() => {});
        if (!(isKept && file === name)) {
          if (await isStill(file, opened)) await unlink(file).catch(() => {});
          forget();
        }
        this.#growing.delete(name);
      },
    };
  }

  #remembers(file: string, opened: BigIntStats): boolean {
    try {
      return this.#isPrivate() && readOwn(this.#record(file)) === `${markOf(opened)}\n`;
    } catch {
      return false;
    }
  }

  #remember(file: string, opened: BigIntStats): boolean {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      if (!this.#isPrivate()) return false;
      replaceFile(this.#record(file), `${markOf(opened)}\n`);
      return true;
    } catch {
      return false;
    }
  }

  #isPrivate(): boolean {
    const found = lstatSync(this.#folder, { bigint: true });
    return found.isDirectory() && isPrivate(found);
  }

  #record(file: string): string {
    return join(this.#folder, hashOf(file));
  }
}

/** A file that is gone may leave its number to the next one, but not the moment it was made. */
function markOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return [dev, ino, birthtimeNs].join(":");
}

function partName(place: string, what: string): string {
  return besideOf(place, `${hashOf(what)}.gsv-part`);
}

/** A hidden file beside a place, with as much of its name as fits: file systems count bytes, and letters take up to four. */
export function besideOf(place: string, end: string): string {
  const bytes = new TextEncoder().encode(basename(place));
  // Of a letter that was cut in two nothing is kept.
  const start = new TextDecoder().decode(bytes.subarray(0, NAME_BYTES_MAX - end.length - 2), { stream: true });
  return join(dirname(place), `.${start}.${end}`);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
