// Large content by key, outside SQL. Keys are made by us (hashes); a put is atomic: a key has all of its bytes or does
// not exist. Removing leaves nothing behind that a later put of the same key could trip over.

export interface Blobs {
  put(key: string, content: Uint8Array): Promise<void>;
  /** Bytes from `start` up to `end`; null where there is no such key. */
  get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null>;
  delete(key: string): Promise<void>;
  /** Keys after `after` in order, a page at a time. */
  list(after: string | null, limit: number): Promise<string[]>;
}
