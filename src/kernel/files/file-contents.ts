// Content of large files in Blobs, and how what nobody refers to any more goes. A blob is put before the row that names
// it, so between the two it looks like an orphan: whoever is writing one keeps it, and whoever wants to write one that is
// just being deleted waits until it is gone.

import type { Blobs, GrowingBlob } from "../../ports/blobs.ts";

const PAGE = 500;

export class FileContents {
  readonly #blobs: Blobs;
  readonly #isReferenced: (key: string) => boolean;
  readonly #durable: () => Promise<void>;
  readonly #kept = new Map<string, number>();
  readonly #leaving = new Map<string, Promise<void>>();

  /** `durable` waits for the batch that is open: a row whose deletion is not on disk yet may come back, and would find its content gone. */
  constructor(blobs: Blobs, isReferenced: (key: string) => boolean, durable: () => Promise<void>) {
    this.#blobs = blobs;
    this.#isReferenced = isReferenced;
    this.#durable = durable;
  }

  get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null> {
    return this.#blobs.get(key, range);
  }

  /** Puts it and runs `name`, which makes a row refer to it; it is no orphan in between. Where `name` fails it goes again. */
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
    const over = () => {
      const left = this.#kept.get(key)! - 1;
      if (left === 0) this.#kept.delete(key);
      else this.#kept.set(key, left);
    };
    try {
      await this.#leaving.get(key);
      await put();
      const named = await name();
      over();
      return named;
    } catch (error) {
      over();
      await this.release([key]);
      throw error;
    }
  }

  /** Deletes what no row refers to any more, now and not with the next sweep: what nobody can see counts for nobody's quota. */
  async release(keys: readonly string[]): Promise<void> {
    // What cannot be deleted now the sweep will delete.
    for (const key of keys) await this.#drop(key).catch(() => false);
  }

  /** Deletes what no row refers to; the number of them. */
  async sweep(): Promise<number> {
    let swept = 0;
    let after: string | null = null;
    for (;;) {
      const keys: string[] = await this.#blobs.list(after, PAGE);
      for (const key of keys) if (await this.#drop(key)) swept++;
      after = keys.at(-1) ?? null;
      if (keys.length < PAGE) return swept;
    }
  }

  /** Whether it went. */
  async #drop(key: string): Promise<boolean> {
    const isNeeded = () => this.#kept.has(key) || this.#isReferenced(key);
    if (isNeeded()) return false;
    await this.#durable();
    if (isNeeded()) return false;
    const leaving = this.#blobs.delete(key).finally(() => this.#leaving.delete(key));
    this.#leaving.set(key, leaving);
    await leaving;
    return true;
  }
}
