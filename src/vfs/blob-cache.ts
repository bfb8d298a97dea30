// A cache of the blobs that were read last, so that a file read piece by piece is fetched once. A blob never changes under its
// hash. Keys include the repository, so a repository gets only its own blobs.

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
