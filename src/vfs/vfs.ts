// The gateway's own file tree: a table of mounts behind the FileSystem interface, bound to one caller. The longest mount
// that fits a path answers for it.

import type { ByteRange, FileEntry, FileStat, FileSystem } from "../hardware/filesystem.ts";
import type { Mount, Who } from "./mount.ts";
import { parentOf, resolvePath } from "./path.ts";

export class Vfs implements FileSystem {
  readonly #mounts: readonly Mount[];
  readonly #who: Who;

  /** `mounts` has one at "/". */
  constructor(mounts: readonly Mount[], who: Who) {
    this.#mounts = mounts;
    this.#who = who;
  }

  resolve(path: string): string {
    return resolvePath(path, this.#who);
  }

  async stat(path: string): Promise<FileStat> {
    return this.#at(path).stat(this.#who, path);
  }

  /** What is stored there, and the mounts that begin there. */
  async list(path: string): Promise<FileEntry[]> {
    const entries = new Map<string, FileEntry>();
    for (const entry of await this.#at(path).list(this.#who, path)) entries.set(entry.name, entry);
    for (const mount of this.#mounts) {
      if (mount.at === "/" || parentOf(mount.at) !== path) continue;
      const stat = await mount.stat(this.#who, mount.at).catch(() => null);
      const name = mount.at.slice(mount.at.lastIndexOf("/") + 1);
      if (stat !== null) entries.set(name, { name, kind: stat.kind });
    }
    return [...entries.values()];
  }

  async read(path: string, range?: ByteRange): Promise<Uint8Array> {
    return this.#at(path).read(this.#who, path, range);
  }

  async write(path: string, content: Uint8Array, options: { ifVersion?: string } = {}): Promise<void> {
    await this.#at(path).write(this.#who, path, content, options);
  }

  async remove(path: string): Promise<void> {
    await this.#at(path).remove(this.#who, path);
  }

  #at(path: string): Mount {
    const fits = this.#mounts.filter(({ at }) => at === "/" || path === at || path.startsWith(`${at}/`));
    return fits.reduce((best, mount) => (mount.at.length > best.at.length ? mount : best));
  }
}
