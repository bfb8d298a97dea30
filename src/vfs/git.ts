// A repository as files: one commit per change, said as such. Git keeps no empty directories, so a hidden marker holds
// one; it keeps no owners either, so everything is the repository's owner's, 0644 and 0755. Links are shown, not followed.

import { type ByteRange, type FileEntry, FileError, type FileErrorCode, type FileStat } from "../hardware/filesystem.ts";
import { concat } from "../lib/bytes.ts";
import { SysError } from "../lib/sys-error.ts";
import { BlobCache } from "./blob-cache.ts";
import type { GitChange, GitFiles, GitStat } from "./git-files.ts";
import { KeyedMutex } from "../lib/keyed-mutex.ts";
import { type Mount, mustFit, type Who } from "./mount.ts";

const MARKER = ".dir";
const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;
/** How often an append begins anew because the file was replaced meanwhile. */
const TRIES = 16;

/** A place in a repository, and where it is in the tree. */
export type GitPlace = {
  repo: string;
  /** "" is the repository's root, which is always there. */
  rel: string;
  /** As the caller knows it. */
  path: string;
  owner: { uid: number; gid: number };
  /** Why nothing here may be changed by anybody. */
  frozen?: string;
};

export class GitTree {
  readonly #git: GitFiles;
  readonly #cache = new BlobCache();
  readonly #appends = new KeyedMutex();

  constructor(git: GitFiles) {
    this.#git = git;
  }

  /** The operations of a mount, at one place. */
  at(place: GitPlace): Omit<Mount, "at" | "rename" | "readHeads"> {
    return {
      stat: () => this.stat(place),
      list: () => this.list(place),
      read: (_who, _path, range) => this.read(place, range),
      write: (who, _path, content, { ifVersion }) => this.write(who, place, content, ifVersion),
      append: (who, _path, content) => this.append(who, place, content),
      remove: (who) => this.remove(who, place),
      makeDirectory: (who) => this.makeDirectory(who, place),
      setMode: (_who, _path, mode) => this.setMode(place, mode),
      setOwner: (_who, _path, uid, gid) => this.setOwner(place, uid, gid),
      setModified: (who) => this.setModified(who, place),
    };
  }

  async stat(place: GitPlace): Promise<FileStat> {
    const found = (await this.#look(place)) ?? raise("ENOENT", place);
    const { uid, gid } = place.owner;
    const mode = found.kind === "directory" ? DIRECTORY_MODE : FILE_MODE;
    const { kind, size, modifiedAt } = found;
    return { kind, size, modifiedAt, mode, uid, gid, version: kind === "file" ? found.oid : "" };
  }

  async list(place: GitPlace): Promise<FileEntry[]> {
    const entries = await this.#entries(place);
    if (entries !== null) return entries.filter(({ name }) => name !== MARKER);
    if (place.rel === "") return [];
    throw new FileError((await this.#look(place)) === null ? "ENOENT" : "ENOTDIR", place.path);
  }

  async read(place: GitPlace, range?: ByteRange): Promise<Uint8Array> {
    mustNotBeMarker(place, "ENOENT");
    const bytes = await this.#bytes(place, range?.ifVersion);
    return range === undefined ? bytes : bytes.slice(range.start, range.end);
  }

  /** In one request for each repository. */
  async readHeads(places: readonly GitPlace[], bytes: number): Promise<(Uint8Array | null)[]> {
    const heads = new Map<GitPlace, Uint8Array | null>();
    const readable = places.filter((place) => !isMarker(place));
    for (const [repo, own] of Map.groupBy(readable, (place) => place.repo)) {
      const rels = own.map(({ rel }) => rel);
      const found = (await this.#git.heads?.(repo, rels, bytes)) ?? (await this.#oneByOne(own, bytes));
      for (const [at, place] of own.entries()) heads.set(place, found[at] ?? null);
    }
    return places.map((place) => heads.get(place) ?? null);
  }

  async #oneByOne(places: readonly GitPlace[], bytes: number): Promise<(Uint8Array | null)[]> {
    const heads: (Uint8Array | null)[] = [];
    for (const place of places) heads.push(await this.read(place, { start: 0, end: bytes }).catch(() => null));
    return heads;
  }

  async write(who: Who, place: GitPlace, content: Uint8Array, ifVersion: string | undefined): Promise<void> {
    mayChange(who, place);
    await this.#mayPut(place);
    const only = ifVersion === undefined ? {} : { ifOid: ifVersion };
    await this.#change(who, place, "write", [{ type: "put", path: place.rel, content, ...only }]);
  }

  async append(who: Who, place: GitPlace, content: Uint8Array): Promise<void> {
    mayChange(who, place);
    await this.#appends.run(`${place.repo}:${place.rel}`, async () => {
      for (let tries = 1; ; tries++) {
        const isThere = (await this.#mayPut(place)) !== null;
        const before = isThere ? await this.#git.read(place.repo, place.rel) : null;
        mustFit(place.path, (before?.bytes.length ?? 0) + content.length);
        const whole = before === null ? content : concat([before.bytes, content]);
        const only = before === null ? {} : { ifOid: before.oid };
        try {
          return await this.#change(who, place, "append", [{ type: "put", path: place.rel, content: whole, ...only }]);
        } catch (error) {
          if (!(error instanceof FileError) || error.code !== "ESTALE" || tries === TRIES) throw error;
        }
      }
    });
  }

  async remove(who: Who, place: GitPlace): Promise<void> {
    mayChange(who, place);
    if (place.rel === "") throw new FileError("EPERM", place.path);
    if ((await this.#look(place)) === null) throw new FileError("ENOENT", place.path);
    await this.#change(who, place, "rm", [{ type: "delete", path: place.rel }, ...(await this.#keepParent(place))]);
  }

  async makeDirectory(who: Who, place: GitPlace): Promise<void> {
    mayChange(who, place);
    if ((await this.#look(place)) !== null) throw new FileError("EEXIST", place.path);
    await this.#mustHaveParent(place);
    await this.#change(who, place, "mkdir", [{ type: "put", path: `${place.rel}/${MARKER}`, content: new Uint8Array() }]);
  }

  /** Both in one repository. */
  async rename(who: Who, from: GitPlace, to: GitPlace): Promise<void> {
    mayChange(who, from);
    mayChange(who, to);
    if (from.rel === "" || to.rel === "") throw new FileError("EPERM", from.path);
    const [moved, there] = await Promise.all([this.#look(from), this.#look(to)]);
    if (moved === null) throw new FileError("ENOENT", from.path);
    if (from.rel === to.rel) return;
    if (to.rel.startsWith(`${from.rel}/`)) throw new FileError("EINVAL", to.path, `${from.path} cannot be moved into itself`);
    if (there === null) await this.#mustHaveParent(to);
    else if (there.kind === "directory" && moved.kind !== "directory") throw new FileError("EISDIR", to.path);
    else if (there.kind !== "directory" && moved.kind === "directory") throw new FileError("ENOTDIR", to.path);
    else if (there.kind === "directory" && (await this.list(to)).length > 0) throw new FileError("ENOTEMPTY", to.path);
    const staysWithin = parentOf(from.rel) === parentOf(to.rel);
    await this.#change(
      who,
      from,
      "mv",
      [
        ...(there === null ? [] : [{ type: "delete" as const, path: to.rel }]),
        { type: "move", from: from.rel, to: to.rel },
        ...(staysWithin ? [] : await this.#keepParent(from)),
      ],
      to,
    );
  }

  async setMode(place: GitPlace, mode: number): Promise<void> {
    if ((await this.stat(place)).mode === mode) return;
    throw new FileError("EPERM", place.path, "It is kept in git: files are 0644 and directories 0755");
  }

  async setOwner(place: GitPlace, uid: number | null, gid: number | null): Promise<void> {
    const present = await this.stat(place);
    if ((uid ?? present.uid) === present.uid && (gid ?? present.gid) === present.gid) return;
    throw new FileError("EPERM", place.path, "It is kept in git: all of a repository is its owner's");
  }

  /** Git keeps the time of a commit, and of nothing else: taken, so that copying with times goes on, and forgotten. */
  async setModified(who: Who, place: GitPlace): Promise<void> {
    mayChange(who, place);
    await this.stat(place);
  }

  async #look(place: GitPlace): Promise<GitStat | null> {
    if (isMarker(place)) return null;
    const found = await this.#asked(place, () => this.#git.stat(place.repo, place.rel));
    return found ?? (place.rel === "" ? { kind: "directory", size: 0, oid: "", modifiedAt: 0 } : null);
  }

  #entries(place: GitPlace) {
    return this.#asked(place, () => this.#git.list(place.repo, place.rel));
  }

  /** A version is its content's hash, so what was read of one is good for as long as it is asked for. */
  async #bytes(place: GitPlace, version: string | undefined): Promise<Uint8Array> {
    const kept = version === undefined ? undefined : this.#cache.get(place.repo, version);
    if (kept !== undefined) return kept;
    const found = await this.#asked(place, () => this.#git.read(place.repo, place.rel));
    if (found === null) throw new FileError((await this.#look(place)) === null ? "ENOENT" : "EISDIR", place.path);
    this.#cache.put(place.repo, found.oid, found.bytes);
    if (version !== undefined && found.oid !== version) throw new FileError("ESTALE", place.path);
    return found.bytes;
  }

  /** What is written over, if it may be a file. Directories on the way are made, over files they are not. */
  async #mayPut(place: GitPlace): Promise<GitStat | null> {
    if (place.rel === "") throw new FileError("EISDIR", place.path);
    const there = await this.#look(place);
    if (there?.kind === "directory") throw new FileError("EISDIR", place.path);
    if (there?.kind === "other") throw new FileError("EPERM", place.path, "It is a symbolic link, and those are not followed");
    if (there !== null) return there;
    for (let rel = parentOf(place.rel); rel !== ""; rel = parentOf(rel)) {
      const above = await this.#look({ ...place, rel });
      if (above?.kind === "directory") break;
      if (above !== null) throw new FileError("ENOTDIR", place.path);
    }
    return null;
  }

  async #mustHaveParent(place: GitPlace): Promise<void> {
    const above = await this.#look({ ...place, rel: parentOf(place.rel) });
    if (above?.kind !== "directory") throw new FileError(above === null ? "ENOENT" : "ENOTDIR", place.path);
  }

  /** A marker for the directory that would go with its last entry. */
  async #keepParent(place: GitPlace): Promise<GitChange[]> {
    const rel = parentOf(place.rel);
    if (rel === "") return [];
    const entries = await this.#entries({ ...place, rel });
    return entries?.length === 1 ? [{ type: "put", path: `${rel}/${MARKER}`, content: new Uint8Array() }] : [];
  }

  async #change(who: Who, place: GitPlace, verb: string, changes: readonly GitChange[], to?: GitPlace): Promise<void> {
    mustNotBeMarker(place, "EPERM");
    if (to !== undefined) mustNotBeMarker(to, "EPERM");
    who.mustStillMay();
    const message = `gsv: ${verb} ${place.rel}${to === undefined ? "" : ` ${to.rel}`}`;
    await this.#asked(place, () => this.#git.change(place.repo, message, who.username, changes));
  }

  /** What a repository refuses, in the words of files. */
  async #asked<T>(place: GitPlace, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const code = error instanceof SysError ? CODES[error.code] : undefined;
      if (code === undefined) throw error;
      throw new FileError(code, place.path, (error as SysError).message);
    }
  }
}

const CODES: { readonly [code: number]: FileErrorCode } = {
  400: "EINVAL",
  403: "EACCES",
  404: "ENOENT",
  409: "ESTALE",
  413: "EFBIG",
  507: "EDQUOT",
};

function mayChange(who: Who, { path, owner, frozen }: GitPlace): void {
  if (who.uid !== 0 && who.uid !== owner.uid) throw new FileError("EACCES", path);
  if (frozen !== undefined) throw new FileError("EPERM", path, frozen);
}

function isMarker({ rel }: GitPlace): boolean {
  return rel.split("/").includes(MARKER);
}

function mustNotBeMarker(place: GitPlace, code: "ENOENT" | "EPERM"): void {
  if (isMarker(place)) throw new FileError(code, place.path, `${MARKER} stands for an empty directory there`);
}

function parentOf(rel: string): string {
  return rel.slice(0, Math.max(0, rel.lastIndexOf("/")));
}

function raise(code: "ENOENT", { path }: GitPlace): never {
  throw new FileError(code, path);
}
