// The gateway's own file tree: a table of mounts behind the FileSystem interface, bound to one caller. The mount with the
// longest matching path serves a path.

import {
  type ByteRange,
  type IncomingFile,
  type FileEntry,
  FileError,
  type FileStat,
  type FileSystem,
  type FileReceiver,
} from "../hardware/filesystem.ts";
import { type Mount, mustFit, type Who } from "./mount.ts";
import { parentOf, resolvePath } from "./path.ts";
import { receiveInMemory } from "./receive.ts";

export class Vfs implements FileSystem {
  readonly #mounts: readonly Mount[];
  readonly #who: Who;

  /** `mounts` must include one at "/". */
  constructor(mounts: readonly Mount[], who: Who) {
    this.#mounts = mounts;
    this.#who = who;
  }

  resolve(path: string): string {
    return resolvePath(path, this.#who);
  }

  async stat(path: string): Promise<FileStat> {
    return this.#mountOf(path).stat(this.#who, path);
  }

  /** The entries of the mount at this path, and the mounts directly below it. */
  async list(path: string): Promise<FileEntry[]> {
    const entries = new Map<string, FileEntry>();
    for (const entry of await this.#mountOf(path).list(this.#who, path)) entries.set(entry.name, entry);
    for (const mount of this.#mounts) {
      if (mount.at === "/" || parentOf(mount.at) !== path) continue;
      const stat = await mount.stat(this.#who, mount.at).catch(() => null);
      const name = mount.at.slice(mount.at.lastIndexOf("/") + 1);
      if (stat !== null) entries.set(name, { name, kind: stat.kind });
    }
    return [...entries.values()];
  }

  async read(path: string, range?: ByteRange): Promise<Uint8Array> {
    return this.#mountOf(path).read(this.#who, path, range);
  }

  /** Paths of the same mount are read together. */
  async readFirstBytes(paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]> {
    const heads = new Map<string, Uint8Array | null>();
    for (const [mount, pathsOfMount] of Map.groupBy(paths, (path) => this.#mountOf(path))) {
      const found =
        (await mount.readFirstBytes?.(this.#who, pathsOfMount, bytes).catch(() => [])) ??
        (await this.#readFirstBytesOfEach(mount, pathsOfMount, bytes));
      for (const [at, path] of pathsOfMount.entries()) heads.set(path, found[at] ?? null);
    }
    return paths.map((path) => heads.get(path) ?? null);
  }

  async #readFirstBytesOfEach(mount: Mount, paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]> {
    const heads: (Uint8Array | null)[] = [];
    for (const path of paths) heads.push(await mount.read(this.#who, path, { start: 0, end: bytes }).catch(() => null));
    return heads;
  }

  async write(path: string, content: Uint8Array, options: { ifVersion?: string } = {}): Promise<void> {
    mustFit(path, content.length);
    await this.#mountOf(path).write(this.#who, path, content, options);
  }

  async receive(path: string, coming: IncomingFile): Promise<FileReceiver> {
    const mount = this.#mountOf(path);
    const receipt = await mount.receive?.(this.#who, path, coming);
    return receipt ?? receiveInMemory(path, coming, (content) => mount.write(this.#who, path, content, {}));
  }

  async remove(path: string): Promise<void> {
    await this.#mountOf(path).remove(this.#who, path);
  }

  async append(path: string, content: Uint8Array): Promise<void> {
    mustFit(path, content.length);
    await this.#mountOf(path).append(this.#who, path, content);
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#mountOf(path).makeDirectory(this.#who, path);
  }

  async rename(from: string, to: string): Promise<void> {
    const mount = this.#mountOf(from);
    if (mount !== this.#mountOf(to)) throw new FileError("EXDEV", from);
    await mount.rename(this.#who, from, to);
  }

  async setMode(path: string, mode: number): Promise<void> {
    await this.#mountOf(path).setMode(this.#who, path, mode);
  }

  async setOwner(path: string, uid: number | null, gid: number | null): Promise<void> {
    await this.#mountOf(path).setOwner(this.#who, path, uid, gid);
  }

  async setModified(path: string, ms: number): Promise<void> {
    await this.#mountOf(path).setModified(this.#who, path, ms);
  }

  #mountOf(path: string): Mount {
    const matches = this.#mounts.filter(({ at }) => at === "/" || path === at || path.startsWith(`${at}/`));
    return matches.reduce((best, mount) => (mount.at.length > best.at.length ? mount : best));
  }
}
