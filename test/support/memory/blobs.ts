// Blobs in memory. A put takes effect at once, as the port promises.

import { concat } from "../../../src/lib/bytes.ts";
import type { Blobs, GrowingBlob } from "../../../src/ports/blobs.ts";

export class MemoryBlobs implements Blobs {
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #parts = new Map<string, Uint8Array>();

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

  async openGrowing(part: string): Promise<GrowingBlob> {
    let content = this.#parts.get(part) ?? new Uint8Array();
    return {
      get size() {
        return content.length;
      },
      read: async (start, end) => content.slice(start, end),
      write: async (more) => {
        content = concat([content, more]);
        this.#parts.set(part, content);
      },
      finish: async (key) => {
        this.#blobs.set(key, content);
        this.#parts.delete(part);
      },
      close: async () => {},
      drop: async () => void this.#parts.delete(part),
    };
  }

  /** No test runs long enough for a part to expire. */
  async dropUnfinished(): Promise<void> {}
}
