// Uploads that grow in Blobs, each in a part of its own. A part counts against its owner's quota from the start. The part of an
// interrupted upload is kept for a retry; each user may have a limited number of parts.

import { FileError } from "../hardware/filesystem.ts";
import { uploadStorageBytes } from "../lib/row-bytes.ts";
import type { GrowingBlob } from "../ports/blobs.ts";

export const PARTS_MAX = 100;

/** Rows for the bytes that count against quotas. */
export type PartRows = {
  set(part: string, uid: number, bytes: number): void;
  drop(part: string): void;
  /** The parts of one user, oldest first. */
  listByUser(uid: number): string[];
};

type StartedUpload = { grown: GrowingBlob; leave: (forget: boolean) => Promise<void>; end: () => void };

export class Uploads {
  readonly #grow: (part: string) => Promise<GrowingBlob>;
  readonly #rows: PartRows;
  /** Parts that an upload or a deletion is using now. */
  readonly #inUse = new Set<string>();

  constructor(grow: (part: string) => Promise<GrowingBlob>, rows: PartRows) {
    this.#grow = grow;
    this.#rows = rows;
  }

  /** `mustHaveRoom` fails if that many additional bytes exceed the quota. */
  async begin(part: string, uid: number, path: string, size: number, mustHaveRoom: (bytes: number) => void): Promise<StartedUpload> {
    const rows = this.#rows;
    if (this.#inUse.has(part)) throw new FileError("EINVAL", path, `The same upload to ${path} is already in progress: wait for it`);
    this.#inUse.add(part);
    const end = () => void this.#inUse.delete(part);
    const grown = await this.#grow(part).catch((error: unknown) => {
      end();
      throw error;
    });
    const leave = async (forget: boolean) => {
      await (forget ? grown.drop() : grown.close()).catch(() => {});
      end();
      if (forget) rows.drop(part);
      else rows.set(part, uid, grown.size);
    };
    try {
      // The bytes of an earlier attempt are included in the size; a file that the upload replaces counts until the end.
      rows.drop(part);
      mustHaveRoom(uploadStorageBytes(size));
      const abandoned = this.#takeAbandoned(uid, path);
      rows.set(part, uid, size);
      for (const one of abandoned) await this.#deletePart(one);
    } catch (error) {
      await leave(true);
      throw error;
    }
    return { grown, leave, end };
  }

  /** Takes the oldest parts that are not in use, as many as needed to make room for one more. */
  #takeAbandoned(uid: number, path: string): string[] {
    const parts = this.#rows.listByUser(uid);
    const excess = parts.length + 1 - PARTS_MAX;
    if (excess <= 0) return [];
    const abandoned = parts.filter((part) => !this.#inUse.has(part)).slice(0, excess);
    if (abandoned.length < excess)
      throw new FileError("EINVAL", path, `Too many uploads at once: ${PARTS_MAX} are in progress, wait for one of them`);
    for (const part of abandoned) {
      this.#inUse.add(part);
      this.#rows.drop(part);
    }
    return abandoned;
  }

  /** If the part cannot be deleted now, `dropUnfinished` of Blobs deletes it when it is old. */
  async #deletePart(part: string): Promise<void> {
    try {
      await (await this.#grow(part)).drop();
    } catch {
    } finally {
      this.#inUse.delete(part);
    }
  }
}
