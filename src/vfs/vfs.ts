// The gateway's own file tree: a table of mounts behind the FileSystem interface, bound to one caller. The longest mount
// that fits a path answers for it.

import {
  type ByteRange,
  type Coming,
  type FileEntry,
  FileError,
  type FileStat,
  type FileSystem,
  type Receipt,
} from "../hardware/filesystem.ts";
import { type Mount, mustFit, type Who } from "./mount.ts";
import { parentOf, resolvePath } from "./path.ts";
import { held } from "./receive.ts";

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

  /** Neighbours are asked for together. */
  async readHeads(paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]> {
    const heads = new Map<string, Uint8Array | null>();
    for (const [mount, own] of Map.groupBy(paths, (path) => this.#at(path))) {
      const found = (await mount.readHeads?.(this.#who, own, bytes).catch(() => [])) ?? (await this.#oneByOne(mount, own, bytes));
      for (const [at, path] of own.entries()) heads.set(path, found[at] ?? null);
    }
    return paths.map((path) => heads.get(path) ?? null);
  }

  async #oneByOne(mount: Mount, paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]> {
    const heads: (Uint8Array | null)[] = [];
    for (const path of paths) heads.push(await mount.read(this.#who, path, { start: 0, end: bytes }).catch(() => null));
    return heads;
  }

  async write(path: string, content: Uint8Array, options: { ifVersion?: string } = {}): Promise<void> {
    mustFit(path, content.length);
    await this.#at(path).write(this.#who, path, content, options);
  }

  async receive(path: string, coming: Coming): Promise<Receipt> {
    const mount = this.#at(path);
    const receipt = await mount.receive?.(this.#who, path, coming);
    return receipt ?? held(path, coming, (content) => mount.write(this.#who, path, content, {}));
  }

  async remove(path: string): Promise<void> {
    await this.#at(path).remove(this.#who, path);
  }

  async append(path: string, content: Uint8Array): Promise<void> {
    mustFit(path, content.length);
    await this.#at(path).append(this.#who, path, content);
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#at(path).makeDirectory(this.#who, path);
  }

  async rename(from: string, to: string): Promise<void> {
    const mount = this.#at(from);
    if (mount !== this.#at(to)) throw new FileError("EXDEV", from);
    await mount.rename(this.#who, from, to);
  }

  async setMode(path: string, mode: number): Promise<void> {
    await this.#at(path).setMode(this.#who, path, mode);
  }

  async setOwner(path: string, uid: number | null, gid: number | null): Promise<void> {
    await this.#at(path).setOwner(this.#who, path, uid, gid);
  }

  async setModified(path: string, ms: number): Promise<void> {
    await this.#at(path).setModified(this.#who, path, ms);
  }

  #at(path: string): Mount {
    const fits = this.#mounts.filter(({ at }) => at === "/" || path === at || path.startsWith(`${at}/`));
    return fits.reduce((best, mount) => (mount.at.length > best.at.length ? mount : best));
  }
}
