// Large content by key, outside SQL. GSV makes the keys (hashes). A put is atomic: a key has all of its bytes or does not exist.
// A delete leaves nothing behind that could break a later put of the same key.

export interface Blobs {
  put(key: string, content: Uint8Array): Promise<void>;
  /** The bytes from `start` up to `end`; null if the key does not exist. */
  get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null>;
  delete(key: string): Promise<void>;
  /** One page of keys after `after`, in order. */
  list(after: string | null, limit: number): Promise<string[]>;
  /**
   * Content that arrives in pieces under a name of its own. Until `finish` it is no blob and is not listed. Pieces written under
   * the same name earlier are still there, unless they were finished or dropped. Only one caller at a time may write it.
   */
  openGrowing(part: string): Promise<GrowingBlob>;
  /** Deletes unfinished content that has not grown since then. */
  dropUnfinished(before: number): Promise<void>;
}

export interface GrowingBlob {
  readonly size: number;
  read(start: number, end: number): Promise<Uint8Array>;
  write(content: Uint8Array): Promise<void>;
  /** Turns it into the blob of that key. */
  finish(key: string): Promise<void>;
  /** Stops writing; `openGrowing` can continue it later. */
  close(): Promise<void>;
  drop(): Promise<void>;
}
