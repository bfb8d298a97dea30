// Stores the content of large files in Blobs and deletes blobs that no row refers to. A blob is put before the row that names it,
// so in between it looks like an orphan: a blob that is being written is never deleted, and a put of a blob that is being deleted
// waits until the deletion is done.

import type { Blobs, GrowingBlob } from "../../ports/blobs.ts";

const PAGE = 500;

export class FileContents {
  readonly #blobs: Blobs;
  readonly #isReferenced: (key: string) => boolean;
  readonly #durable: () => Promise<void>;
  readonly #writers = new Map<string, number>();
  readonly #deletions = new Map<string, Promise<void>>();

  /** `durable` waits for the open batch: a row whose deletion is not on disk yet may come back, and must then find its content. */
  constructor(blobs: Blobs, isReferenced: (key: string) => boolean, durable: () => Promise<void>) {
    this.#blobs = blobs;
    this.#isReferenced = isReferenced;
    this.#durable = durable;
  }

  get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null> {
    return this.#blobs.get(key, range);
  }

  /** Puts the blob and runs `name`, which makes a row refer to it; no sweep deletes it in between. If `name` fails, it is deleted. */
  put<T>(key: string, content: Uint8Array, name: () => Promise<T>): Promise<T> {
    return this.#putAndAddRow(key, () => this.#blobs.put(key, content), name);
  }

  openGrowing(part: string): Promise<GrowingBlob> {
    return this.#blobs.openGrowing(part);
  }

  /** Like `put`, for a blob that was written in pieces. */
  putGrown<T>(key: string, grown: GrowingBlob, name: () => Promise<T>): Promise<T> {
    return this.#putAndAddRow(key, () => grown.finish(key), name);
  }

  dropPartsBefore(before: number): Promise<void> {
    return this.#blobs.dropUnfinished(before);
  }

  async #putAndAddRow<T>(key: string, put: () => Promise<void>, name: () => Promise<T>): Promise<T> {
    this.#writers.set(key, (this.#writers.get(key) ?? 0) + 1);
    const removeWriter = () => {
      const remaining = this.#writers.get(key)! - 1;
      if (remaining === 0) this.#writers.delete(key);
      else this.#writers.set(key, remaining);
    };
    try {
      await this.#deletions.get(key);
      await put();
      const result = await name();
      removeWriter();
      return result;
    } catch (error) {
      removeWriter();
      await this.deleteUnreferenced([key]);
      throw error;
    }
  }

  /** Deletes blobs that no row refers to any more. Does not wait for the next sweep, because no quota counts them. */
  async deleteUnreferenced(keys: readonly string[]): Promise<void> {
    // If a deletion fails, the next sweep retries it.
    for (const key of keys) await this.#deleteIfUnreferenced(key).catch(() => false);
  }

  /** Deletes all blobs that no row refers to; returns how many. */
  async sweep(): Promise<number> {
    let swept = 0;
    let after: string | null = null;
    for (;;) {
      const keys: string[] = await this.#blobs.list(after, PAGE);
      for (const key of keys) if (await this.#deleteIfUnreferenced(key)) swept++;
      after = keys.at(-1) ?? null;
      if (keys.length < PAGE) return swept;
    }
  }

  /** Returns whether the blob was deleted. */
  async #deleteIfUnreferenced(key: string): Promise<boolean> {
    const isNeeded = () => this.#writers.has(key) || this.#isReferenced(key);
    if (isNeeded()) return false;
    await this.#durable();
    if (isNeeded()) return false;
    const deletion = this.#blobs.delete(key).finally(() => this.#deletions.delete(key));
    this.#deletions.set(key, deletion);
    await deletion;
    return true;
  }
}
