// The few blobs that were read last, so that a file read piece by piece is fetched once. Blobs never change under their
// hash; a repository sees only its own.

const BYTES_MAX = 8 * 1024 * 1024;

export class BlobCache {
  readonly #blobs = new Map<string, Uint8Array>();
  #bytes = 0;

  get(repo: string, oid: string): Uint8Array | undefined {
    return this.#blobs.get(`${repo}:${oid}`);
  }

  put(repo: string, oid: string, bytes: Uint8Array): void {
    const key = `${repo}:${oid}`;
    if (bytes.length > BYTES_MAX || this.#blobs.has(key)) return;
    this.#blobs.set(key, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, content] of this.#blobs) {
      if (this.#bytes <= BYTES_MAX) break;
      this.#blobs.delete(oldest);
      this.#bytes -= content.length;
    }
  }
}
