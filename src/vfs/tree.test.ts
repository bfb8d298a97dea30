// Who may do what in the stored tree, held against a slow model of Linux: inodes, one permission check per step of the
// way, and rm -r as a person would do it, entry by entry. Trees, owners, modes, groups and operations are random.

import { createHash, randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryBlobs } from "../../test/support/memory/blobs.ts";
import { MemorySql } from "../../test/support/memory/sql.ts";
import { FileError } from "../hardware/filesystem.ts";
import { FileContents } from "../kernel/files/file-contents.ts";
import { Files } from "../kernel/nouns/files.ts";
import { files as filesSchema } from "../kernel/schema/002-files.ts";
import { migrate } from "../kernel/schema/migrate.ts";
import { type Mount, mustFit, type Who } from "./mount.ts";
import { treeMount } from "./tree.ts";
import { Usage } from "../kernel/nouns/usage.ts";

const INLINE_MAX = 16;
const R = 4;
const W = 2;
const X = 1;
const STICKY = 0o1000;

type User = { uid: number; gids: number[] };
type Inode = { kind: "file" | "directory"; uid: number; gid: number; mode: number; content: string; children: Map<string, Inode> };
/** What came of it, as far as both must agree: refusals are told apart from what is absent or of the wrong kind. */
type Verdict = "ok" | "denied" | "absent" | "not a directory" | "is a directory" | "exists" | "not empty" | "into itself";

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
        next = this.#newDirectory(who, at);
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
    mustNotBeBusy(path, inode);
    mayEmpty(who, inode);
    parent.children.delete(names.at(-1)!);
  }

  append(who: User, path: string, content: string): void {
    const names = namesOf(path);
    let at: Inode | undefined = this.root;
    for (const name of names) at = at?.children.get(name);
    this.write(who, path, (at?.content ?? "") + content);
  }

  mkdir(who: User, path: string): void {
    if (path === "/") throw new Refused("exists");
    const [parent, name] = this.#parent(who, path);
    if (parent.children.has(name)) throw new Refused("exists");
    mayAdd(who, parent);
    parent.children.set(name, this.#newDirectory(who, parent));
  }

  /** Unlike on Linux, a directory in /home is closed to others whoever makes it. */
  #newDirectory(who: User, parent: Inode): Inode {
    const isHome = parent === this.root.children.get("home");
    return directory({ uid: who.uid, gid: who.uid, mode: isHome ? 0o750 : 0o755 });
  }

  /** In the order of the kernel's own rename. */
  rename(who: User, from: string, to: string): void {
    if (from === "/" || to === "/") throw new Refused("denied");
    const inode = this.lookUp(who, from);
    const [oldParent, oldName] = this.#parent(who, from);
    const [newParent, newName] = this.#parent(who, to);
    const there = newParent.children.get(newName);
    if (there === inode) return;
    if (holds(inode, newParent)) throw new Refused("into itself");
    if (there !== undefined && holds(there, oldParent)) throw new Refused("not empty");
    mayUnlink(who, oldParent, inode);
    mustNotBeBusy(from, inode);
    if (there === undefined) mayAdd(who, newParent);
    else {
      mayUnlink(who, newParent, there);
      mustNotBeBusy(to, there);
      if (there.kind === "directory" && inode.kind === "file") throw new Refused("is a directory");
      if (there.kind === "file" && inode.kind === "directory") throw new Refused("not a directory");
    }
    if (inode.kind === "directory" && oldParent !== newParent) mustHave(who, inode, W);
    if (there !== undefined && there.children.size > 0) throw new Refused("not empty");
    oldParent.children.delete(oldName);
    newParent.children.set(newName, inode);
  }

  chmod(who: User, path: string, mode: number): void {
    const inode = this.lookUp(who, path);
    if (![0, inode.uid].includes(who.uid)) throw new Refused("denied");
    inode.mode = mode;
  }

  chown(who: User, path: string, uid: number | null, gid: number | null): void {
    const inode = this.lookUp(who, path);
    if (who.uid !== 0) {
      if (uid !== null && !(uid === inode.uid && who.uid === uid)) throw new Refused("denied");
      if (gid !== null && !(who.uid === inode.uid && (gid === inode.gid || who.gids.includes(gid)))) throw new Refused("denied");
    }
    Object.assign(inode, { uid: uid ?? inode.uid, gid: gid ?? inode.gid });
  }

  #parent(who: User, path: string): [Inode, string] {
    const names = namesOf(path);
    const name = names.pop()!;
    const parent = this.lookUp(who, `/${names.join("/")}`);
    if (parent.kind !== "directory") throw new Refused("not a directory");
    mustHave(who, parent, X);
    return [parent, name];
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

/** Places things are mounted at, so to speak. */
function mustNotBeBusy(path: string, { kind }: Inode): void {
  const names = namesOf(path);
  if (PERMANENT.includes(path) || (names[0] === "home" && names.length === 2 && kind === "directory")) throw new Refused("denied");
}

function mayAdd(who: User, parent: Inode): void {
  mustHave(who, parent, W);
  mustHave(who, parent, X);
}

function holds(inode: Inode, other: Inode): boolean {
  return inode === other || [...inode.children.values()].some((child) => holds(child, other));
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
  readonly files = new Files(this.sql, new Usage(this.sql));
  readonly mount: Mount;

  constructor() {
    migrate(this.sql);
    this.sql.commit();
    this.mount = treeMount({
      reads: this.files,
      change: async (body) => {
        try {
          return this.sql.transaction(() => body(this.files));
        } catch (error) {
          this.files.forget();
          throw error;
        } finally {
          this.sql.commit();
        }
      },
      contents: new FileContents(
        new MemoryBlobs(),
        () => true,
        async () => {},
      ),
      mustHaveRoom: () => {},
      uploads: { set: () => {}, drop: () => {}, of: () => [] },
      sha256: (bytes) => createHash("sha256").update(bytes).digest(),
      sha256Slowly: async (bytes) => createHash("sha256").update(bytes).digest(),
      now: () => 1,
      uuid: randomUUID,
      inlineBytesMax: INLINE_MAX,
    });
  }

  /** As it was when it was made. */
  clear(): void {
    const marks = PERMANENT.map(() => "?").join(", ");
    this.sql.run(`DELETE FROM files WHERE path NOT IN (${marks})`, ...PERMANENT);
    this.sql.run("DELETE FROM file_contents");
    this.sql.run("UPDATE files SET uid = 0, gid = 0, mode = CASE path WHEN '/tmp' THEN 1023 WHEN '/root' THEN 448 ELSE 493 END");
    this.sql.commit();
    this.files.forget();
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
    case "EEXIST":
      return "exists";
    case "ENOTEMPTY":
      return "not empty";
    case "EINVAL":
      return "into itself";
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
type Does = "stat" | "list" | "read" | "write" | "remove" | "append" | "mkdir" | "rename" | "chmod" | "chown";
type Operation = {
  does: Does;
  who: User;
  path: string;
  content: string;
  to: string;
  mode: number;
  uid: number | null;
  gid: number | null;
};
/** Mostly at something that was planted, above or below it. */
type Step = "there" | "above" | "below" | "anywhere";
type Aim = Omit<Operation, "path" | "to"> & { at: number; step: Step; path: string; toAt: number; toStep: Step };

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
const step = fc.constantFrom("there", "there", "there", "above", "below", "anywhere");
const aim = (does: readonly Does[]): fc.Arbitrary<Aim> =>
  fc.record({
    does: fc.constantFrom(...does),
    who: user,
    content,
    path,
    at: fc.nat(23),
    step,
    toAt: fc.nat(23),
    toStep: step,
    mode,
    uid: fc.constantFrom(null, null, 0, ...UIDS),
    gid: fc.constantFrom(null, ...GIDS),
  });

function operationOf(tree: readonly Planted[], { at, step, path: elsewhere, toAt, toStep, ...rest }: Aim): Operation {
  const place = (number: number, which: Step) => {
    const target = tree[number % tree.length]!.path;
    const places = {
      there: target,
      above: `/${namesOf(target).slice(0, -1).join("/")}`,
      below: `${target}/a`.replace("//", "/"),
      anywhere: elsewhere,
    };
    return places[which];
  };
  return { ...rest, path: place(at, step), to: place(toAt, toStep) };
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

function inLinux(linux: Linux, { does, who, path: at, content: words, to, mode: bits, uid, gid }: Operation): unknown {
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
    case "append":
      return linux.append(who, at, words);
    case "mkdir":
      return linux.mkdir(who, at);
    case "rename":
      return linux.rename(who, at, to);
    case "chmod":
      return linux.chmod(who, at, bits);
    case "chown":
      return linux.chown(who, at, uid, gid);
  }
}

async function inReal(
  { mount }: Real,
  { does, who: user, path: at, content: words, to, mode: bits, uid, gid }: Operation,
): Promise<unknown> {
  const who = whoOf(user);
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
    case "append":
      return mount.append(who, at, bytes(words));
    case "mkdir":
      return mount.makeDirectory(who, at);
    case "rename":
      return mount.rename(who, at, to);
    case "chmod":
      return mount.setMode(who, at, bits);
    case "chown":
      return mount.setOwner(who, at, uid, gid);
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

  it("lets append, make directories and change modes and owners exactly those whom Linux would", async () => {
    const counts = await likeLinux(["append", "mkdir", "chmod", "chown", "write"], {});
    for (const does of ["append", "mkdir", "chmod", "chown"])
      for (const verdict of ["ok", "denied"]) expect(counts[`${does} ${verdict}`], `${does} ${verdict}`).toBeGreaterThan(10);
    expect(counts["mkdir exists"]).toBeGreaterThan(10);
  });

  it("lets move exactly what Linux would, to where Linux would", async () => {
    const counts = await likeLinux(["rename", "rename", "rename", "chmod", "write"], {});
    for (const verdict of ["ok", "denied", "absent"]) expect(counts[`rename ${verdict}`], verdict).toBeGreaterThan(10);
  });

  it("moves over a file and an empty directory, and over nothing else", async () => {
    const { mount, files } = new Real();
    const root = whoOf({ uid: 0, gids: [0] });
    for (const path of ["/srv/full/x", "/srv/dir/sub/y", "/srv/file", "/srv/other"]) await mount.write(root, path, bytes(path), {});
    await mount.makeDirectory(root, "/srv/empty");
    const code = (from: string, to: string) => mount.rename(root, from, to).then(String, (error: FileError) => error.code);
    expect(await code("/srv/file", "/srv/empty")).toBe("EISDIR");
    expect(await code("/srv/dir", "/srv/file")).toBe("ENOTDIR");
    expect(await code("/srv/dir", "/srv/full")).toBe("ENOTEMPTY");
    expect(await code("/srv/dir/sub", "/srv/dir")).toBe("ENOTEMPTY");
    expect(await code("/srv/dir", "/srv/dir/sub/z")).toBe("EINVAL");
    expect(await code("/srv/dir", "/srv/none/z")).toBe("ENOENT");
    expect(await code("/home", "/srv/home")).toBe("EPERM");
    await mount.rename(root, "/srv/dir", "/srv/empty");
    await mount.rename(root, "/srv/file", "/srv/other");
    expect(files.below("/srv").map(({ path }) => path)).toEqual([
      "/srv/empty",
      "/srv/empty/sub",
      "/srv/empty/sub/y",
      "/srv/full",
      "/srv/full/x",
      "/srv/other",
    ]);
    expect(text(await mount.read(root, "/srv/empty/sub/y"))).toBe("/srv/dir/sub/y");
    expect(text(await mount.read(root, "/srv/other"))).toBe("/srv/file");
    expect((await mount.list(root, "/srv/empty")).map(({ name }) => name)).toEqual(["sub"]);
  });

  it("keeps owner and mode of a file that is written over, and shows them", async () => {
    const { mount } = new Real();
    const [root, alice] = [whoOf({ uid: 0, gids: [0] }), whoOf({ uid: 1000, gids: [1000, 100] })];
    await mount.write(alice, "/tmp/a", bytes("one"), {});
    await mount.setMode(alice, "/tmp/a", 0o640);
    await mount.setOwner(alice, "/tmp/a", null, 100);
    await mount.setModified(alice, "/tmp/a", 12_345);
    expect(await mount.stat(alice, "/tmp/a")).toMatchObject({ mode: 0o640, uid: 1000, gid: 100, size: 3, modifiedAt: 12_345 });
    await mount.write(root, "/tmp/a", bytes("other"), {});
    await mount.append(root, "/tmp/a", bytes("!"));
    expect(await mount.stat(alice, "/tmp/a")).toMatchObject({ mode: 0o640, uid: 1000, gid: 100, size: 6 });
    await expect(mount.setMode(alice, "/tmp/a", 0o4755)).rejects.toMatchObject({ code: "EINVAL" });
  });

  it("loses none of many appends at once, small or large", async () => {
    const { mount } = new Real();
    const root = whoOf({ uid: 0, gids: [0] });
    await Promise.all(Array.from({ length: 60 }, (_, at) => mount.append(root, "/var/log", bytes(`${at}\n`))));
    const lines = text(await mount.read(root, "/var/log"))
      .trim()
      .split("\n");
    expect(lines.map(Number)).toEqual(Array.from({ length: 60 }, (_, at) => at));
  });

  it("refuses more than a file holds, and a move that would put names out of reach", async () => {
    const { mount } = new Real();
    const root = whoOf({ uid: 0, gids: [0] });
    expect(() => mustFit("/x", 256 * 1024 * 1024)).not.toThrow();
    expect(() => mustFit("/x", 256 * 1024 * 1024 + 1)).toThrow(expect.objectContaining({ code: "EFBIG" }) as Error);
    const deep = `/tmp/d${`/${"n".repeat(200)}`.repeat(4)}`;
    await mount.write(root, `${deep}/file`, bytes("x"), {});
    await expect(mount.rename(root, "/tmp/d", `/tmp/${"e".repeat(250)}`)).rejects.toMatchObject({ code: "ENAMETOOLONG" });
    await mount.rename(root, "/tmp/d", "/tmp/e");
    expect(text(await mount.read(root, `${deep.replace("/tmp/d", "/tmp/e")}/file`))).toBe("x");
  });

  it("finds a file, its way and a directory's entries by index", () => {
    const sql = new DatabaseSync(":memory:");
    for (const statement of filesSchema.statements.slice(0, 4)) sql.exec(statement);
    const plan = (query: string) =>
      sql
        .prepare(`EXPLAIN QUERY PLAN ${query}`)
        .all()
        .map(({ detail }) => String(detail))
        .join("\n");
    expect(plan("SELECT * FROM files WHERE path IN (SELECT value FROM json_each('[]'))")).toMatch(/SEARCH files USING PRIMARY KEY/);
    expect(plan("SELECT * FROM files WHERE parent = '/' AND path <> '/' ORDER BY path")).not.toMatch(/SCAN files|TEMP B-TREE/);
    expect(plan("SELECT 1 FROM files WHERE hash = 'x' LIMIT 1")).not.toMatch(/SCAN files/);
    expect(plan("UPDATE files SET path = 'x' WHERE path > '/a/' AND path < '/a0'")).not.toMatch(/SCAN files/);
  });
});
