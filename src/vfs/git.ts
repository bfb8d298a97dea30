// A repository as files: each change is one commit with a message such as `gsv: write path`. Git stores no empty directories,
// so a hidden marker file keeps one. Git stores no owners either, so everything belongs to the repository's owner, with modes
// 0644 and 0755. Links are listed, not followed.

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
/** How often an append is retried because the file was replaced meanwhile. */
const APPEND_TRIES = 16;

/** A path in a repository, and the same path in the tree. */
export type GitPlace = {
  repo: string;
  /** "" is the repository's root, which always exists. */
  rel: string;
  /** The path in the tree, as the caller knows it. */
  path: string;
  owner: { uid: number; gid: number };
  /** If set, nothing here may be changed, and this is the error message. */
  frozen?: string;
};

export class GitTree {
  readonly #git: GitFiles;
  readonly #cache = new BlobCache();
  readonly #appends = new KeyedMutex();

  constructor(git: GitFiles) {
    this.#git = git;
  }

  /** The operations of a mount, bound to one place. */
  bind(place: GitPlace): Omit<Mount, "at" | "rename" | "readFirstBytes"> {
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
    const found = (await this.#findStat(place)) ?? raise("ENOENT", place);
    const { uid, gid } = place.owner;
    const mode = found.kind === "directory" ? DIRECTORY_MODE : FILE_MODE;
    const { kind, size, modifiedAt } = found;
    return { kind, size, modifiedAt, mode, uid, gid, version: kind === "file" ? found.oid : "" };
  }

  async list(place: GitPlace): Promise<FileEntry[]> {
    const entries = await this.#listEntries(place);
    if (entries !== null) return entries.filter(({ name }) => name !== MARKER);
    if (place.rel === "") return [];
    throw new FileError((await this.#findStat(place)) === null ? "ENOENT" : "ENOTDIR", place.path);
  }

  async read(place: GitPlace, range?: ByteRange): Promise<Uint8Array> {
    mustNotBeMarker(place, "ENOENT");
    const bytes = await this.#readBytes(place, range?.ifVersion);
    return range === undefined ? bytes : bytes.slice(range.start, range.end);
  }

  /** Sends one request per repository. */
  async readFirstBytes(places: readonly GitPlace[], bytes: number): Promise<(Uint8Array | null)[]> {
    const heads = new Map<GitPlace, Uint8Array | null>();
    const readable = places.filter((place) => !isMarker(place));
    for (const [repo, placesOfRepo] of Map.groupBy(readable, (place) => place.repo)) {
      const rels = placesOfRepo.map(({ rel }) => rel);
      const found = (await this.#git.readFirstBytes?.(repo, rels, bytes)) ?? (await this.#readFirstBytesOfEach(placesOfRepo, bytes));
      for (const [at, place] of placesOfRepo.entries()) heads.set(place, found[at] ?? null);
    }
    return places.map((place) => heads.get(place) ?? null);
  }

  async #readFirstBytesOfEach(places: readonly GitPlace[], bytes: number): Promise<(Uint8Array | null)[]> {
    const heads: (Uint8Array | null)[] = [];
    for (const place of places) heads.push(await this.read(place, { start: 0, end: bytes }).catch(() => null));
    return heads;
  }

  async write(who: Who, place: GitPlace, content: Uint8Array, ifVersion: string | undefined): Promise<void> {
    checkMayChange(who, place);
    await this.#checkMayPut(place);
    const condition = ifVersion === undefined ? {} : { ifOid: ifVersion };
    await this.#commitChanges(who, place, "write", [{ type: "put", path: place.rel, content, ...condition }]);
  }

  async append(who: Who, place: GitPlace, content: Uint8Array): Promise<void> {
    checkMayChange(who, place);
    await this.#appends.run(`${place.repo}:${place.rel}`, async () => {
      for (let tries = 1; ; tries++) {
        const exists = (await this.#checkMayPut(place)) !== null;
        const before = exists ? await this.#git.read(place.repo, place.rel) : null;
        mustFit(place.path, (before?.bytes.length ?? 0) + content.length);
        const whole = before === null ? content : concat([before.bytes, content]);
        const condition = before === null ? {} : { ifOid: before.oid };
        try {
          return await this.#commitChanges(who, place, "append", [{ type: "put", path: place.rel, content: whole, ...condition }]);
        } catch (error) {
          if (!(error instanceof FileError) || error.code !== "ESTALE" || tries === APPEND_TRIES) throw error;
        }
      }
    });
  }

  async remove(who: Who, place: GitPlace): Promise<void> {
    checkMayChange(who, place);
    if (place.rel === "") throw new FileError("EPERM", place.path);
    if ((await this.#findStat(place)) === null) throw new FileError("ENOENT", place.path);
    await this.#commitChanges(who, place, "rm", [{ type: "delete", path: place.rel }, ...(await this.#parentMarkerChanges(place))]);
  }

  async makeDirectory(who: Who, place: GitPlace): Promise<void> {
    checkMayChange(who, place);
    if ((await this.#findStat(place)) !== null) throw new FileError("EEXIST", place.path);
    await this.#mustHaveParent(place);
    await this.#commitChanges(who, place, "mkdir", [{ type: "put", path: `${place.rel}/${MARKER}`, content: new Uint8Array() }]);
  }

  /** Both places must be in the same repository. */
  async rename(who: Who, from: GitPlace, to: GitPlace): Promise<void> {
    checkMayChange(who, from);
    checkMayChange(who, to);
    if (from.rel === "" || to.rel === "") throw new FileError("EPERM", from.path);
    const [moved, existing] = await Promise.all([this.#findStat(from), this.#findStat(to)]);
    if (moved === null) throw new FileError("ENOENT", from.path);
    if (from.rel === to.rel) return;
    if (to.rel.startsWith(`${from.rel}/`)) throw new FileError("EINVAL", to.path, `${from.path} cannot be moved into itself`);
    if (existing === null) await this.#mustHaveParent(to);
    else if (existing.kind === "directory" && moved.kind !== "directory") throw new FileError("EISDIR", to.path);
    else if (existing.kind !== "directory" && moved.kind === "directory") throw new FileError("ENOTDIR", to.path);
    else if (existing.kind === "directory" && (await this.list(to)).length > 0) throw new FileError("ENOTEMPTY", to.path);
    const isSameParent = parentOf(from.rel) === parentOf(to.rel);
    await this.#commitChanges(
      who,
      from,
      "mv",
      [
        ...(existing === null ? [] : [{ type: "delete" as const, path: to.rel }]),
        { type: "move", from: from.rel, to: to.rel },
        ...(isSameParent ? [] : await this.#parentMarkerChanges(from)),
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
    throw new FileError("EPERM", place.path, "It is kept in git: everything in a repository belongs to its owner");
  }

  /** Does nothing but check: git stores only commit times, and copying with times must not fail. */
  async setModified(who: Who, place: GitPlace): Promise<void> {
    checkMayChange(who, place);
    await this.stat(place);
  }

  async #findStat(place: GitPlace): Promise<GitStat | null> {
    if (isMarker(place)) return null;
    const found = await this.#withFileErrors(place, () => this.#git.stat(place.repo, place.rel));
    return found ?? (place.rel === "" ? { kind: "directory", size: 0, oid: "", modifiedAt: 0 } : null);
  }

  #listEntries(place: GitPlace) {
    return this.#withFileErrors(place, () => this.#git.list(place.repo, place.rel));
  }

  /** A version is the hash of the content, so a cached blob of that version is always valid. */
  async #readBytes(place: GitPlace, version: string | undefined): Promise<Uint8Array> {
    const cached = version === undefined ? undefined : this.#cache.get(place.repo, version);
    if (cached !== undefined) return cached;
    const found = await this.#withFileErrors(place, () => this.#git.read(place.repo, place.rel));
    if (found === null) throw new FileError((await this.#findStat(place)) === null ? "ENOENT" : "EISDIR", place.path);
    this.#cache.put(place.repo, found.oid, found.bytes);
    if (version !== undefined && found.oid !== version) throw new FileError("ESTALE", place.path);
    return found.bytes;
  }

  /** The file that would be replaced; throws if none may be here. Missing directories are created; a file in their place is an error. */
  async #checkMayPut(place: GitPlace): Promise<GitStat | null> {
    if (place.rel === "") throw new FileError("EISDIR", place.path);
    const existing = await this.#findStat(place);
    if (existing?.kind === "directory") throw new FileError("EISDIR", place.path);
    if (existing?.kind === "other") throw new FileError("EPERM", place.path, "It is a symbolic link, and those are not followed");
    if (existing !== null) return existing;
    for (let rel = parentOf(place.rel); rel !== ""; rel = parentOf(rel)) {
      const parent = await this.#findStat({ ...place, rel });
      if (parent?.kind === "directory") break;
      if (parent !== null) throw new FileError("ENOTDIR", place.path);
    }
    return null;
  }

  async #mustHaveParent(place: GitPlace): Promise<void> {
    const parent = await this.#findStat({ ...place, rel: parentOf(place.rel) });
    if (parent?.kind !== "directory") throw new FileError(parent === null ? "ENOENT" : "ENOTDIR", place.path);
  }

  /** A marker for the parent directory if it would disappear with its last entry. */
  async #parentMarkerChanges(place: GitPlace): Promise<GitChange[]> {
    const rel = parentOf(place.rel);
    if (rel === "") return [];
    const entries = await this.#listEntries({ ...place, rel });
    return entries?.length === 1 ? [{ type: "put", path: `${rel}/${MARKER}`, content: new Uint8Array() }] : [];
  }

  async #commitChanges(who: Who, place: GitPlace, verb: string, changes: readonly GitChange[], to?: GitPlace): Promise<void> {
    mustNotBeMarker(place, "EPERM");
    if (to !== undefined) mustNotBeMarker(to, "EPERM");
    who.checkStillAllowed();
    const message = `gsv: ${verb} ${place.rel}${to === undefined ? "" : ` ${to.rel}`}`;
    await this.#withFileErrors(place, () => this.#git.commitChanges(place.repo, message, who.username, changes));
  }

  /** Turns errors of a repository into file errors. */
  async #withFileErrors<T>(place: GitPlace, work: () => Promise<T>): Promise<T> {
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

function checkMayChange(who: Who, { path, owner, frozen }: GitPlace): void {
  if (who.uid !== 0 && who.uid !== owner.uid) throw new FileError("EACCES", path);
  if (frozen !== undefined) throw new FileError("EPERM", path, frozen);
}

function isMarker({ rel }: GitPlace): boolean {
  return rel.split("/").includes(MARKER);
}

function mustNotBeMarker(place: GitPlace, code: "ENOENT" | "EPERM"): void {
  if (isMarker(place)) throw new FileError(code, place.path, `${MARKER} marks an empty directory there`);
}

function parentOf(rel: string): string {
  return rel.slice(0, Math.max(0, rel.lastIndexOf("/")));
}

function raise(code: "ENOENT", { path }: GitPlace): never {
  throw new FileError(code, path);
}
