// A FileSystem in memory, for tests of code that uses one.

import {
  type ByteRange,
  type IncomingFile,
  type FileEntry,
  FileError,
  type FileStat,
  type FileSystem,
  type FileReceiver,
} from "../../../src/hardware/filesystem.ts";
import { receiveInMemory } from "../../../src/vfs/receive.ts";

type Node = { content: Uint8Array; version: number } | "directory";

export class MemoryFiles implements FileSystem {
  readonly #nodes = new Map<string, Node>([["/", "directory"]]);
  readonly #home: string;
  #version = 0;
  /** Paths that fail with EACCES. */
  readonly closed = new Set<string>();

  constructor(home = "/home/alice") {
    this.#home = home;
    this.#makeParents(`${home}/x`);
  }

  resolve(path: string): string {
    const absolute = path.startsWith("/")
      ? path
      : path === "~" || path.startsWith("~/")
        ? this.#home + path.slice(1)
        : `${this.#home}/${path}`;
    const parts: string[] = [];
    for (const part of absolute.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return `/${parts.join("/")}`;
  }

  async stat(path: string): Promise<FileStat> {
    const node = this.#get(path);
    if (node === "directory") return { kind: "directory", size: 0, modifiedAt: 0, mode: 0o755, uid: 1000, gid: 1000, version: "" };
    const { content, version } = node;
    return { kind: "file", size: content.length, modifiedAt: version, mode: 0o644, uid: 1000, gid: 1000, version: String(version) };
  }

  async list(path: string): Promise<FileEntry[]> {
    if (this.#get(path) !== "directory") throw new FileError("ENOTDIR", path);
    const prefix = path === "/" ? "/" : `${path}/`;
    return [...this.#nodes]
      .filter(([at]) => at.startsWith(prefix) && at !== "/" && !at.slice(prefix.length).includes("/"))
      .map(([at, node]) => ({ name: at.slice(prefix.length), kind: node === "directory" ? "directory" : "file" }));
  }

  async read(path: string, range?: ByteRange): Promise<Uint8Array> {
    const node = this.#get(path);
    if (node === "directory") throw new FileError("EISDIR", path);
    if (range?.ifVersion !== undefined && range.ifVersion !== String(node.version)) throw new FileError("ESTALE", path);
    return node.content.slice(range?.start ?? 0, range?.end ?? node.content.length);
  }

  async write(path: string, content: Uint8Array, options: { ifVersion?: string } = {}): Promise<void> {
    const present = this.#nodes.get(path);
    if (present === "directory") throw new FileError("EISDIR", path);
    if (this.closed.has(path)) throw new FileError("EACCES", path);
    if (options.ifVersion !== undefined && String(present?.version) !== options.ifVersion) throw new FileError("ESTALE", path);
    this.#makeParents(path);
    this.#nodes.set(path, { content: content.slice(), version: ++this.#version });
  }

  async receive(path: string, coming: IncomingFile): Promise<FileReceiver> {
    return receiveInMemory(path, coming, (content) => this.write(path, content));
  }

  async remove(path: string): Promise<void> {
    if (path === "/") throw new FileError("EPERM", path);
    for (const at of this.#nodes.keys()) if (at === path || at.startsWith(`${path}/`)) this.#nodes.delete(at);
  }

  #get(path: string): Node {
    if (this.closed.has(path)) throw new FileError("EACCES", path);
    return this.#nodes.get(path) ?? fail(path);
  }

  #makeParents(path: string): void {
    const parts = path.split("/").slice(1, -1);
    for (let at = 1; at <= parts.length; at++) {
      const folder = `/${parts.slice(0, at).join("/")}`;
      if (this.#nodes.has(folder) && this.#nodes.get(folder) !== "directory") throw new FileError("ENOTDIR", path);
      this.#nodes.set(folder, "directory");
    }
  }
}

function fail(path: string): never {
  throw new FileError("ENOENT", path);
}
