// Large content by key, outside SQL. Keys are made by us (hashes); a put is atomic: a key has all of its bytes or does
// not exist. Removing leaves nothing behind that a later put of the same key could trip over.

export interface Blobs {
  put(key: string, content: Uint8Array): Promise<void>;
  /** Bytes from `start` up to `end`; null where there is no such key. */
  get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null>;
  delete(key: string): Promise<void>;
  /** Keys after `after` in order, a page at a time. */
  list(after: string | null, limit: number): Promise<string[]>;
  /**
   * Content that comes in pieces, under a name of its own until it is whole: no blob before that, and not listed. What came
   * under the same name earlier is still there, unless it was finished or dropped. One at a time may grow it.
   */
  grow(part: string): Promise<GrowingBlob>;
  /** Drops what has not grown since then. */
  dropParts(before: number): Promise<void>;
}

export interface GrowingBlob {
  readonly size: number;
  read(start: number, end: number): Promise<Uint8Array>;
  write(content: Uint8Array): Promise<void>;
  /** It is the blob of that key from now on. */
  finish(key: string): Promise<void>;
  /** Not now; it can be grown further. */
  close(): Promise<void>;
  drop(): Promise<void>;
}
