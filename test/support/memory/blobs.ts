// Blobs in memory. A put is there at once: the port promises no less.

import type { Blobs } from "../../../src/ports/blobs.ts";

export class MemoryBlobs implements Blobs {
  readonly #blobs = new Map<string, Uint8Array>();

  async put(key: string, content: Uint8Array): Promise<void> {
    this.#blobs.set(key, content.slice());
  }

  async get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null> {
    return this.#blobs.get(key)?.slice(range?.start, range?.end) ?? null;
  }

  async delete(key: string): Promise<void> {
    this.#blobs.delete(key);
  }

  async list(after: string | null, limit: number): Promise<string[]> {
    return [...this.#blobs.keys()]
      .filter((key) => after === null || key > after)
      .toSorted()
      .slice(0, limit);
  }
}
