// Edits a tree: directories are loaded when a change reaches them and written once at the end. Symbolic links are not
// followed: a link is an entry like a file.

import { fail } from "../lib/sys-error.ts";
import { parseWritePath } from "./names.ts";
import type { Objects } from "./objects.ts";
import { isTree, MODE, parseTree, serializeTree } from "./tree.ts";

type Directory = Map<string, Entry>;
/** A directory that was loaded has its entries in `children`, and its oid is stale. */
type Entry = { mode: string; oid: string; children?: Directory };

export class TreeEdit {
  readonly #objects: Objects;
  readonly #entriesMax: number;
  readonly #root: Directory;

  constructor(objects: Objects, tree: string | null, entriesMax: number) {
    this.#objects = objects;
    this.#entriesMax = entriesMax;
    this.#root = tree === null ? new Map() : this.#load(tree);
  }

  put(path: string, blob: string, ifOid?: string): void {
    const segments = parseWritePath(path);
    const name = segments.pop()!;
    const directory = this.#openDirectory(segments, path);
    const present = directory.get(name);
    if (present !== undefined && isTree(present) && !this.#isEmptied(present)) fail(409, `Is a directory: ${path}`);
    if (ifOid !== undefined && present?.oid !== ifOid)
      fail(409, `Conflict: ${path} has changed in the meantime`, { expected: ifOid, found: present?.oid ?? null });
    directory.set(name, { mode: MODE.file, oid: blob });
  }

  delete(path: string, recursive: boolean): void {
    const segments = parseWritePath(path);
    const entry = this.#find(segments) ?? fail(404, `Path not found: ${segments.join("/")}`);
    if (isTree(entry) && !recursive) fail(409, `Directory not empty: ${segments.join("/")} (pass recursive: true to delete all below it)`);
    this.#remove(segments);
  }

  move(from: string, to: string): void {
    const source = parseWritePath(from);
    const target = parseWritePath(to);
    const entry = this.#find(source) ?? fail(404, `Path not found: ${source.join("/")}`);
    if (source.every((segment, i) => target[i] === segment)) {
      if (target.length > source.length) fail(409, `Cannot move ${source.join("/")} into itself`);
      fail(409, `Path already exists: ${target.join("/")}`);
    }
    if (this.#find(target) !== undefined) fail(409, `Path already exists: ${target.join("/")}`);
    this.#remove(source);
    this.#openDirectory(target.slice(0, -1), to).set(target.at(-1)!, entry);
  }

  /** Writes the changed directories and returns the hash of the root. */
  write(): string {
    return this.#write(this.#root) ?? this.#objects.write("tree", new Uint8Array(0));
  }

  /** Undefined for an empty directory, which git does not store. */
  #write(directory: Directory): string | undefined {
    const entries = [];
    for (const [name, entry] of directory) {
      const oid = entry.children === undefined ? entry.oid : this.#write(entry.children);
      if (oid !== undefined) entries.push({ mode: entry.mode, name, oid });
    }
    if (entries.length > this.#entriesMax) fail(413, `More than ${this.#entriesMax} entries in one directory`);
    return entries.length === 0 ? undefined : this.#objects.write("tree", serializeTree(entries));
  }

  #find(segments: readonly string[]): Entry | undefined {
    let directory: Directory = this.#root;
    for (const [i, segment] of segments.entries()) {
      const entry = directory.get(segment);
      if (entry === undefined || i === segments.length - 1) return entry === undefined || this.#isEmptied(entry) ? undefined : entry;
      if (!isTree(entry)) return undefined;
      directory = this.#loadChildren(entry);
    }
    return undefined;
  }

  /** Whether this is a directory from which everything was removed. */
  #isEmptied(entry: Entry): boolean {
    return entry.children !== undefined && [...entry.children.values()].every((inner) => this.#isEmptied(inner));
  }

  #remove(segments: readonly string[]): void {
    this.#openDirectory(segments.slice(0, -1), segments.join("/")).delete(segments.at(-1)!);
  }

  #openDirectory(segments: readonly string[], path: string): Directory {
    let directory = this.#root;
    for (const [i, segment] of segments.entries()) {
      let entry = directory.get(segment);
      if (entry === undefined) {
        entry = { mode: MODE.tree, oid: "", children: new Map() };
        directory.set(segment, entry);
      }
      if (!isTree(entry)) fail(409, `Not a directory: ${segments.slice(0, i + 1).join("/")} (in ${path})`);
      directory = this.#loadChildren(entry);
    }
    return directory;
  }

  #loadChildren(entry: Entry): Directory {
    entry.children ??= this.#load(entry.oid);
    return entry.children;
  }

  #load(tree: string): Directory {
    return new Map(parseTree(this.#objects.read(tree, "tree")).map(({ mode, name, oid }) => [name, { mode, oid }]));
  }
}
