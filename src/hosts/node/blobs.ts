// The Blobs port as a folder of files. A put writes a temporary file, syncs it, renames it and syncs the folder, so that a key
// that exists has all of its bytes after any crash.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { type FileHandle, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Blobs, GrowingBlob } from "../../ports/blobs.ts";
import { StorageError } from "../../ports/sql.ts";
import { isNoSpace } from "./system-errors.ts";
import { openNew, openPrivate } from "../shared/own-files.ts";
import { nextBlobFault, crashAt, systemError } from "./faults.ts";

const KEY = /^[a-z0-9][a-z0-9-]{1,127}$/;
/** No key has this suffix. */
const PART = ".part";

export class NodeBlobs implements Blobs {
  readonly #folder: string;
  readonly #fatal: (error: unknown) => void;
  #writes = 0;

  /** `fatal` is called with errors after which the state of the disk is unknown. */
  constructor(folder: string, fatal: (error: unknown) => void) {
    this.#folder = folder;
    this.#fatal = fatal;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Temporary files left by a crash will never be renamed. Only this process uses the directory.
    for (const name of readdirSync(folder)) if (name.endsWith(".new")) rmSync(join(folder, name), { force: true });
  }

  async put(key: string, content: Uint8Array): Promise<void> {
    const file = this.#fileOf(key);
    const temporary = `${file}.${process.pid}.${this.#writes++}.new`;
    const fault = nextBlobFault();
    try {
      if (fault === "full") throw systemError("ENOSPC");
      const handle = await openNew(temporary);
      try {
        await handle.writeFile(fault === "short" ? content.subarray(0, content.length / 2) : content);
        if (fault !== null) throw systemError(fault === "broken" ? "EIO" : "ENOSPC");
        await handle.sync();
      } finally {
        await handle.close();
      }
      crashAt("mid-blob-rename");
      await this.#renameAndSync(temporary, file);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw this.#asStorageError(error);
    }
  }

  async get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null> {
    try {
      if (range === undefined) {
        const { buffer, byteOffset, length } = await readFile(this.#fileOf(key));
        return new Uint8Array(buffer, byteOffset, length);
      }
      const handle = await open(this.#fileOf(key), "r");
      try {
        const bytes = new Uint8Array(Math.max(0, range.end - range.start));
        const { bytesRead } = await handle.read(bytes, 0, bytes.length, range.start);
        // A copy, not a view: transferring a view to another thread would transfer the whole buffer.
        return bytesRead === bytes.length ? bytes : bytes.slice(0, bytesRead);
      } finally {
        await handle.close();
      }
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async delete(key: string): Promise<void> {
    await rm(this.#fileOf(key), { force: true });
  }

  async list(after: string | null, limit: number): Promise<string[]> {
    const keys = (await readdir(this.#folder)).filter((name) => KEY.test(name)).toSorted();
    return keys.filter((key) => after === null || key > after).slice(0, limit);
  }

  async openGrowing(part: string): Promise<GrowingBlob> {
    const file = this.#fileOf(part) + PART;
    const handle = (await openPrivate(file)) ?? (await this.#replaceWithNew(file));
    const { size } = await handle.stat();
    return new GrowingFile(handle, size, {
      renameTo: (key) => this.#renameAndSync(file, this.#fileOf(key)),
      drop: () => rm(file, { force: true }),
      asStorageError: (error) => this.#asStorageError(error),
    });
  }

  async dropUnfinished(before: number): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (!name.endsWith(PART)) continue;
      const file = join(this.#folder, name);
      const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: before }));
      if (mtimeMs < before) await rm(file, { force: true });
    }
  }

  /** Anything else with this name is in the gateway's own folder but was not made by the gateway. */
  async #replaceWithNew(file: string): Promise<FileHandle> {
    await rm(file, { force: true });
    return openNew(file);
  }

  async #renameAndSync(file: string, target: string): Promise<void> {
    await rename(file, target);
    const folder = await open(this.#folder, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  #asStorageError(error: unknown): unknown {
    if (!(error instanceof Error) || !("code" in error)) return error;
    if (isNoSpace(error)) return new StorageError(true, error);
    if (error.code === "EROFS") return new StorageError(false, error);
    if (error.code !== "EIO") return error;
    // As with the database, a failed sync is not retried.
    this.#fatal(error);
    return new StorageError(false, error);
  }

  #fileOf(key: string): string {
    if (!KEY.test(key)) throw new Error(`Not a blob key: ${createHash("sha256").update(key).digest("hex")}`);
    return join(this.#folder, key);
  }
}

type FileActions = { renameTo(key: string): Promise<void>; drop(): Promise<void>; asStorageError(error: unknown): unknown };

class GrowingFile implements GrowingBlob {
  readonly #handle: FileHandle;
  readonly #actions: FileActions;
  #size: number;

  constructor(handle: FileHandle, size: number, actions: FileActions) {
    this.#handle = handle;
    this.#size = size;
    this.#actions = actions;
  }

  get size(): number {
    return this.#size;
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(Math.max(0, Math.min(end, this.#size) - start));
    const { bytesRead } = await this.#handle.read(bytes, 0, bytes.length, start);
    return bytes.subarray(0, bytesRead);
  }

  async write(content: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < content.length;)
        done += (await this.#handle.write(content, done, content.length - done, this.#size + done)).bytesWritten;
      this.#size += content.length;
    } catch (error) {
      throw this.#actions.asStorageError(error);
    }
  }

  async finish(key: string): Promise<void> {
    try {
      await this.#handle.sync();
      await this.#handle.close();
      await this.#actions.renameTo(key);
    } catch (error) {
      throw this.#actions.asStorageError(error);
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async drop(): Promise<void> {
    await this.#handle.close();
    await this.#actions.drop();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
