// Who may do what in the stored tree, held against a slow model of Linux: inodes, one permission check per step of the
// way, and rm -r as a person would do it, entry by entry. Trees, owners, modes, groups and operations are random.

import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryBlobs } from "../../test/support/memory/blobs.ts";
import { MemorySql } from "../../test/support/memory/sql.ts";
import { FileError } from "../hardware/filesystem.ts";
import { Contents } from "../kernel/contents.ts";
import { Files } from "../kernel/nouns/files.ts";
import { migrate } from "../kernel/schema/migrate.ts";
import type { Mount, Who } from "./mount.ts";
import { treeMount } from "./tree.ts";

const INLINE_MAX = 16;
const R = 4;
const W = 2;
const X = 1;
const STICKY = 0o1000;

type User = { uid: number; gids: number[] };
type Inode = { kind: "file" | "directory"; uid: number; gid: number; mode: number; content: string; children: Map<string, Inode> };
/** What came of it, as far as both must agree: refusals are told apart from what is absent or of the wrong kind. */
type Verdict = "ok" | "denied" | "absent" | "not a directory" | "is a directory";

class Refused extends Error {
  readonly verdict: Verdict;

  constructor(verdict: Verdict) {
    super(verdict);
    this.verdict = verdict;
  }
}

// ---- The model.

const PERMANENT = ["/", "/etc", "/home", "/root", "/tmp", "/var"];

class Linux {
  readonly root: Inode = { kind: "directory", uid: 0, gid: 0, mode: 0o755, content: "", children: new Map() };

  constructor() {
    const modes: Record<string, number> = { etc: 0o755, home: 0o755, root: 0o700, tmp: 0o1777, var: 0o755 };
    for (const [name, mode] of Object.entries(modes)) this.root.children.set(name, directory({ uid: 0, gid: 0, mode }));
  }

  /** Inode by inode: to look a name up in a directory one must be allowed to search it. */
  lookUp(who: User, path: string): Inode {
    let at = this.root;
    for (const name of namesOf(path)) {
      if (at.kind !== "directory") throw new Refused("not a directory");
      mustHave(who, at, X);
      at = at.children.get(name) ?? raise("absent");
    }
    return at;
  }

  list(who: User, path: string): string[] {
    const inode = this.lookUp(who, path);
    if (inode.kind !== "directory") throw new Refused("not a directory");
    mustHave(who, inode, R);
    return [...inode.children].map(([name, { kind }]) => `${kind} ${name}`).toSorted();
  }

  read(who: User, path: string): string {
    const inode = this.lookUp(who, path);
    if (inode.kind === "directory") throw new Refused("is a directory");
    mustHave(who, inode, R);
    return inode.content;
  }

  /** mkdir -p of what leads there, then open for writing, make or empty. Nothing is made where any of it is refused. */
  write(who: User, path: string, content: string): void {
    const names = namesOf(path);
    const last = names.pop();
    if (last === undefined) throw new Refused("is a directory");
    let at = this.root;
    const made: [Inode, string, Inode][] = [];
    for (const name of names) {
      if (at.kind !== "directory") throw new Refused("not a directory");
      mustHave(who, at, X);
      let next = at.children.get(name);
      if (next === undefined) {
        mustHave(who, at, W);
        next = directory({ uid: who.uid, gid: who.uid, mode: 0o755 });
        made.push([at, name, next]);
      }
      at = next;
    }
    if (at.kind !== "directory") throw new Refused("not a directory");
    mustHave(who, at, X);
    const there = at.children.get(last);
    if (there?.kind === "directory") throw new Refused("is a directory");
    mustHave(who, there ?? at, W);
    for (const [parent, name, inode] of made) parent.children.set(name, inode);
    if (there !== undefined) there.content = content;
    else at.children.set(last, { kind: "file", uid: who.uid, gid: who.uid, mode: 0o644, content, children: new Map() });
  }

  /** rm -r, with the one difference that it does all of it or nothing. */
  remove(who: User, path: string): void {
    const names = namesOf(path);
    const inode = this.lookUp(who, path);
    if (names.length === 0) throw new Refused("denied");
    const parent = this.lookUp(who, `/${names.slice(0, -1).join("/")}`);
    mayUnlink(who, parent, inode);
    // Places things are mounted at, so to speak: they are busy.
    if (PERMANENT.includes(path) || (names[0] === "home" && names.length === 2 && inode.kind === "directory")) throw new Refused("denied");
    mayEmpty(who, inode);
    parent.children.delete(names.at(-1)!);
  }

  /** Every path with all that is known of it. */
  everything(): string[] {
    const lines: string[] = [];
    const visit = (path: string, { kind, uid, gid, mode, content, children }: Inode) => {
      lines.push(`${path || "/"} ${kind} ${uid} ${gid} ${mode.toString(8)} ${content}`);
      for (const [name, child] of children) visit(`${path}/${name}`, child);
    };
    visit("", this.root);
    return lines.toSorted();
  }
}

/** To take an entry out of a directory, and out of a sticky one only what is one's own or in one's own directory. */
function mayUnlink(who: User, parent: Inode, inode: Inode): void {
  mustHave(who, parent, W);
  mustHave(who, parent, X);
  if ((parent.mode & STICKY) !== 0 && ![0, inode.uid, parent.uid].includes(who.uid)) throw new Refused("denied");
}

/** An empty directory goes with its entry; one that is not must be read, and each entry taken out of it. */
function mayEmpty(who: User, inode: Inode): void {
  if (inode.kind === "file" || inode.children.size === 0) return;
  mustHave(who, inode, R);
  for (const child of inode.children.values()) {
    mayUnlink(who, inode, child);
    mayEmpty(who, child);
  }
}

function mustHave(who: User, inode: Inode, bit: number): void {
  if (who.uid === 0) return;
  let bits = inode.mode & 0o7;
  if (who.uid === inode.uid) bits = (inode.mode >> 6) & 0o7;
  else if (who.gids.some((gid) => gid === inode.gid)) bits = (inode.mode >> 3) & 0o7;
  if ((bits & bit) === 0) throw new Refused("denied");
}

function directory(of: { uid: number; gid: number; mode: number }): Inode {
  return { kind: "directory", content: "", children: new Map(), ...of };
}

function namesOf(path: string): string[] {
  return path.split("/").filter(Boolean);
}

function raise(verdict: Verdict): never {
  throw new Refused(verdict);
}

// ---- The real one, on the real rows.

class Real {
  readonly sql = new MemorySql();
  readonly files = new Files(this.sql);
  readonly mount: Mount;

  constructor() {
    migrate(this.sql);
    this.sql.commit();
    this.mount = treeMount({
      reads: this.files,
      change: async (body) => {
        const value = this.sql.transaction(() => body(this.files));
        this.sql.commit();
        return value;
      },
      contents: new Contents(new MemoryBlobs()),
      sha256: (bytes) => createHash("sha256").update(bytes).digest(),
      now: () => 1,
      inlineBytesMax: INLINE_MAX,
    });
  }

  /** As it was when it was made. */
  clear(): void {
    const marks = PERMANENT.map(() => "?").join(", ");
    this.sql.run(`DELETE FROM files WHERE path NOT IN (${marks})`, ...PERMANENT);
    this.sql.run("DELETE FROM file_contents");
    this.sql.commit();
  }

  async everything(): Promise<string[]> {
    const lines = [];
    for (const node of [this.files.get("/")!, ...this.files.below("/")]) {
      const { path, kind, uid, gid, mode } = node;
      const content = kind === "file" ? text(await this.mount.read(whoOf({ uid: 0, gids: [0] }), path)) : "";
      lines.push(`${path} ${kind} ${uid} ${gid} ${mode.toString(8)} ${content}`);
    }
    return lines.toSorted();
  }

  /** Rows that no row needs. */
  loose(): unknown[] {
    return this.sql.all("SELECT hash FROM file_contents WHERE hash NOT IN (SELECT hash FROM files WHERE hash IS NOT NULL)");
  }
}

const text = (content: Uint8Array) => new TextDecoder().decode(content);
const bytes = (content: string) => new TextEncoder().encode(content);

function whoOf({ uid, gids }: User): Who {
  const nowhere = { username: `u${uid}`, home: "/", cwd: "/" };
  return { uid, gid: uid, gids, ...nowhere, sys: () => Promise.reject(new Error("not here")), mustStillMay() {} };
}

function verdictOf(error: unknown): Verdict {
  if (error instanceof Refused) return error.verdict;
  if (!(error instanceof FileError)) throw error;
  switch (error.code) {
    case "EACCES":
    case "EPERM":
      return "denied";
    case "ENOENT":
      return "absent";
    case "ENOTDIR":
      return "not a directory";
    case "EISDIR":
      return "is a directory";
    default:
      throw error;
  }
}

type Answer = { verdict: Verdict; value?: unknown };

async function answerOf(work: () => unknown): Promise<Answer> {
  try {
    return { verdict: "ok", value: await work() };
  } catch (error) {
    return { verdict: verdictOf(error) };
  }
}

// ---- What is tried.

type Planted = { path: string; kind: "file" | "directory"; uid: number; gid: number; mode: number };
type Does = "stat" | "list" | "read" | "write" | "remove";
type Operation = { does: Does; who: User; path: string; content: string };
/** Mostly at something that was planted, above or below it. */
type Aim = Omit<Operation, "path"> & { at: number; step: "there" | "above" | "below" | "anywhere"; path: string };

/** "0" follows "/" in the index, "-" and "." come before it. */
const NAMES = ["a", "a0", "a-", "é"];
const BASES = ["/tmp", "/tmp", "/srv", "/srv", "/home", "/home/u1000", "/root", ""];
const UIDS = [1000, 1001, 1002];
const GIDS = [1000, 1001, 100, 200];

const path = fc
  .tuple(fc.constantFrom(...BASES), fc.array(fc.constantFrom(...NAMES), { maxLength: 3 }))
  .map(([base, names]) => [base, ...names].join("/") || "/");
const mode = fc.oneof(
  fc.constantFrom(0o755, 0o777, 0o1777, 0o644),
  fc.constantFrom(0o755, 0o777, 0o1777, 0o1770, 0o750, 0o700, 0o730, 0o711, 0o733, 0o1733, 0o744, 0o555, 0o000, 0o644, 0o077),
  fc.integer({ min: 0, max: 0o1777 }),
);
const planted: fc.Arbitrary<Planted> = fc.record({
  path,
  kind: fc.constantFrom("directory", "file"),
  uid: fc.constantFrom(0, ...UIDS),
  gid: fc.constantFrom(0, ...GIDS),
  mode,
});
const user: fc.Arbitrary<User> = fc
  .tuple(fc.constantFrom(0, ...UIDS, ...UIDS), fc.uniqueArray(fc.constantFrom(...GIDS)))
  .map(([uid, more]) => ({ uid, gids: [uid, ...more] }));
const content = fc.constantFrom("", "x", "x", "small", "larger than what lies in a row", "é".repeat(20));
const aim = (does: readonly Does[]): fc.Arbitrary<Aim> =>
  fc.record({
    does: fc.constantFrom(...does),
    who: user,
    content,
    path,
    at: fc.nat(23),
    step: fc.constantFrom("there", "there", "there", "above", "below", "anywhere"),
  });

function operationOf(tree: readonly Planted[], { at, step, path: elsewhere, ...rest }: Aim): Operation {
  const target = tree[at % tree.length]!.path;
  const places = {
    there: target,
    above: `/${namesOf(target).slice(0, -1).join("/")}`,
    below: `${target}/a`.replace("//", "/"),
    anywhere: elsewhere,
  };
  return { ...rest, path: places[step] };
}

/** The same tree twice. Parents come first, so that what is planted is reached; what does not fit is left out. */
async function plant(real: Real, all: readonly Planted[]): Promise<Linux> {
  const linux = new Linux();
  real.clear();
  const root = { uid: 0, gids: [0] };
  for (const { path: at, kind, uid, gid, mode: bits } of all.toSorted((a, b) => a.path.length - b.path.length)) {
    const names = namesOf(at);
    const name = names.pop();
    const parent = `/${names.join("/")}`;
    const into = await answerOf(() => linux.lookUp(root, parent));
    if (name === undefined || into.verdict !== "ok") continue;
    const { kind: intoKind, children } = into.value as Inode;
    if (intoKind !== "directory") continue;
    const there = children.get(name);
    const isFile = (there?.kind ?? kind) === "file";
    const words = isFile ? `content of ${at}` : "";
    if (there !== undefined && !PERMANENT.includes(at)) Object.assign(there, { uid, gid, mode: bits });
    else if (there === undefined) children.set(name, { ...directory({ uid, gid, mode: bits }), kind, content: words });
    else continue;
    if (isFile) await real.mount.write(whoOf(root), at, bytes(words), {});
    const row = isFile ? real.files.get(at)! : { path: at, kind: "directory" as const, size: 0, hash: null, modifiedAt: 0 };
    real.files.put({ ...row, uid, gid, mode: bits }, parent, null);
    real.sql.commit();
  }
  return linux;
}

function inLinux(linux: Linux, { does, who, path: at, content: words }: Operation): unknown {
  switch (does) {
    case "stat": {
      const { kind, content: held } = linux.lookUp(who, at);
      return `${kind} ${bytes(held).length}`;
    }
    case "list":
      return linux.list(who, at);
    case "read":
      return linux.read(who, at);
    case "write":
      return linux.write(who, at, words);
    case "remove":
      return linux.remove(who, at);
  }
}

async function inReal({ mount }: Real, { does, who: { uid, gids }, path: at, content: words }: Operation): Promise<unknown> {
  const who = whoOf({ uid, gids });
  switch (does) {
    case "stat": {
      const { kind, size } = await mount.stat(who, at);
      return `${kind} ${size}`;
    }
    case "list":
      return (await mount.list(who, at)).map(({ name, kind }) => `${kind} ${name}`).toSorted();
    case "read":
      return text(await mount.read(who, at));
    case "write":
      return mount.write(who, at, bytes(words), {});
    case "remove":
      return mount.remove(who, at);
  }
}

/** How often each operation came to each verdict. `skips` leaves out what is not to be compared. */
async function likeLinux(does: readonly Does[], more: { endOnFailure?: boolean }, skips = (_linux: Linux, _operation: Operation) => false) {
  const counts: Record<string, number> = {};
  const real = new Real();
  const trees = fc.array(planted, { minLength: 4, maxLength: 24 });
  const property = fc.asyncProperty(trees, fc.array(aim(does), { minLength: 1, maxLength: 12 }), async (tree, aims) => {
    const linux = await plant(real, tree);
    for (const each of aims.map((one) => operationOf(tree, one))) {
      if (skips(linux, each)) continue;
      const wanted = await answerOf(() => inLinux(linux, each));
      const found = await answerOf(() => inReal(real, each));
      expect(found, JSON.stringify(each)).toEqual(wanted);
      const name = `${each.does} ${wanted.verdict}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    expect(await real.everything()).toEqual(linux.everything());
    expect(real.loose()).toEqual([]);
  });
  await fc.assert(property, { numRuns: 400, ...more });
  real.sql.close();
  return counts;
}

function isDirectory(linux: Linux, path: string): boolean {
  try {
    return linux.lookUp({ uid: 0, gids: [0] }, path).kind === "directory";
  } catch {
    return false;
  }
}

describe("the stored tree", () => {
  it("lets stat, list, read and write exactly those whom Linux would", async () => {
    const counts = await likeLinux(["stat", "list", "read", "write"], {});
    for (const does of ["stat", "list", "read", "write"])
      for (const verdict of ["ok", "denied"]) expect(counts[`${does} ${verdict}`], `${does} ${verdict}`).toBeGreaterThan(10);
  });

  it("lets delete a file exactly those whom Linux would", async () => {
    const counts = await likeLinux(
      ["remove", "remove", "write"],
      {},
      (linux, { does, path }) => does === "remove" && isDirectory(linux, path),
    );
    for (const verdict of ["ok", "denied", "absent"]) expect(counts[`remove ${verdict}`], verdict).toBeGreaterThan(10);
  });

  it("lets delete a directory exactly those whom Linux would", async () => {
    const counts = await likeLinux(["remove", "remove", "list", "write"], {});
    for (const verdict of ["ok", "denied", "absent"]) expect(counts[`remove ${verdict}`], verdict).toBeGreaterThan(10);
  });
});
