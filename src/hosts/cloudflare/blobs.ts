// The Blobs port over R2, whose puts are atomic by themselves.

import type { Blobs } from "../../ports/blobs.ts";

export class CloudflareBlobs implements Blobs {
  readonly #bucket: R2Bucket;

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket;
  }

  async put(key: string, content: Uint8Array): Promise<void> {
    await this.#bucket.put(key, content);
  }

  async get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null> {
    if (range !== undefined && range.end <= range.start) return (await this.#bucket.head(key)) === null ? null : new Uint8Array();
    const object = await this.#bucket.get(
      key,
      range === undefined ? {} : { range: { offset: range.start, length: range.end - range.start } },
    );
    return object === null ? null : new Uint8Array(await object.arrayBuffer());
  }

  async delete(key: string): Promise<void> {
    await this.#bucket.delete(key);
  }

  async list(after: string | null, limit: number): Promise<string[]> {
    const { objects } = await this.#bucket.list(after === null ? { limit } : { limit, startAfter: after });
    return objects.map(({ key }) => key);
  }
}
