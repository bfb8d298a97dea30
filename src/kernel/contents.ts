// Content of large files in Blobs, and how what nobody refers to any more goes. A blob is put before the row that names
// it, so between the two it looks like an orphan: whoever is writing one keeps it, and whoever wants to write one that is
// just being deleted waits until it is gone.

import type { Blobs, GrowingBlob } from "../ports/blobs.ts";

const PAGE = 500;

export class Contents {
  readonly #blobs: Blobs;
  readonly #kept = new Map<string, number>();
  readonly #leaving = new Map<string, Promise<void>>();

  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null> {
    return this.#blobs.get(key, range);
  }

  /** Puts it and runs `name`, which makes a row refer to it; it is no orphan in between. */
  put<T>(key: string, content: Uint8Array, name: () => Promise<T>): Promise<T> {
    return this.#keeping(key, () => this.#blobs.put(key, content), name);
  }

  grow(part: string): Promise<GrowingBlob> {
    return this.#blobs.grow(part);
  }

  /** As put, of what has grown. */
  finish<T>(key: string, grown: GrowingBlob, name: () => Promise<T>): Promise<T> {
    return this.#keeping(key, () => grown.finish(key), name);
  }

  dropParts(before: number): Promise<void> {
    return this.#blobs.dropParts(before);
  }

  async #keeping<T>(key: string, put: () => Promise<void>, name: () => Promise<T>): Promise<T> {
    this.#kept.set(key, (this.#kept.get(key) ?? 0) + 1);
    try {
      await this.#leaving.get(key);
      await put();
      return await name();
    } finally {
      const left = this.#kept.get(key)! - 1;
      if (left === 0) this.#kept.delete(key);
      else this.#kept.set(key, left);
    }
  }

  /**
   * Deletes what no row refers to; the number of them. `durable` waits for the batch that is open: a row whose deletion
   * is not on disk yet may come back, and would find its content gone.
   */
  async sweep(isReferenced: (key: string) => boolean, durable: () => Promise<void>): Promise<number> {
    let swept = 0;
    let after: string | null = null;
    for (;;) {
      const keys: string[] = await this.#blobs.list(after, PAGE);
      for (const key of keys) {
        const isNeeded = () => this.#kept.has(key) || isReferenced(key);
        if (isNeeded()) continue;
        await durable();
        if (isNeeded()) continue;
        const leaving = this.#blobs.delete(key).finally(() => this.#leaving.delete(key));
        this.#leaving.set(key, leaving);
        await leaving;
        swept++;
      }
      after = keys.at(-1) ?? null;
      if (keys.length < PAGE) return swept;
    }
  }
}
