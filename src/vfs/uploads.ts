// Uploads that grow in Blobs, each in a part of its own. A part counts for its owner from its beginning, and what an interrupted
// upload left waits for the next try; of those a user has a limited number.

import { FileError } from "../hardware/filesystem.ts";
import { partBytes } from "../lib/row-bytes.ts";
import type { GrowingBlob } from "../ports/blobs.ts";

export const PARTS_MAX = 100;

/** What counts. */
export type PartRows = {
  set(part: string, uid: number, bytes: number): void;
  drop(part: string): void;
  /** Of one user, the oldest first. */
  of(uid: number): string[];
};

type Begun = { grown: GrowingBlob; leave: (forget: boolean) => Promise<void>; end: () => void };

export class Uploads {
  readonly #grow: (part: string) => Promise<GrowingBlob>;
  readonly #rows: PartRows;
  /** Those nobody else may touch now. */
  readonly #growing = new Set<string>();

  constructor(grow: (part: string) => Promise<GrowingBlob>, rows: PartRows) {
    this.#grow = grow;
    this.#rows = rows;
  }

  /** `mustHaveRoom` fails where so many bytes more are too many. */
  async begin(part: string, uid: number, path: string, size: number, mustHaveRoom: (bytes: number) => void): Promise<Begun> {
    const rows = this.#rows;
    if (this.#growing.has(part)) throw new FileError("EINVAL", path, `The same is on its way to ${path} already: wait for it`);
    this.#growing.add(part);
    const end = () => void this.#growing.delete(part);
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
      // What an earlier try has left is part of it; the file that it replaces counts until then.
      rows.drop(part);
      mustHaveRoom(partBytes(size));
      const abandoned = this.#beyond(uid, path);
      rows.set(part, uid, size);
      for (const one of abandoned) await this.#forget(one);
    } catch (error) {
      await leave(true);
      throw error;
    }
    return { grown, leave, end };
  }

  /** Those that make room for one more: the oldest that nobody is sending. */
  #beyond(uid: number, path: string): string[] {
    const parts = this.#rows.of(uid);
    const tooMany = parts.length + 1 - PARTS_MAX;
    if (tooMany <= 0) return [];
    const abandoned = parts.filter((part) => !this.#growing.has(part)).slice(0, tooMany);
    if (abandoned.length < tooMany)
      throw new FileError("EINVAL", path, `Too many uploads at once: ${PARTS_MAX} are under way, wait for one of them`);
    for (const part of abandoned) {
      this.#growing.add(part);
      this.#rows.drop(part);
    }
    return abandoned;
  }

  /** What cannot be deleted now goes with all that is old. */
  async #forget(part: string): Promise<void> {
    try {
      await (await this.#grow(part)).drop();
    } catch {
    } finally {
      this.#growing.delete(part);
    }
  }
}
