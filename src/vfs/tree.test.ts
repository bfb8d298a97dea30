// Compares the rights of the stored tree with a slow model of Linux: inodes, one permission check per path component, and rm -r
// entry by entry. Trees, owners, modes, groups and operations are random.

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
import { makeTreeMount } from "./tree.ts";
import { Usage } from "../kernel/nouns/usage.ts";

const INLINE_MAX = 16;
const R = 4;
const W = 2;
const X = 1;
const STICKY = 0o1000;

type User = { uid: number; gids: number[] };
type Inode = { kind: "file" | "directory"; uid: number; gid: number; mode: number; content: string; children: Map<string, Inode> };
/** The outcome on which both must agree: denied, absent and wrong kind are different outcomes. */
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

  /** Goes inode by inode: looking a name up in a directory needs the right to search it. */
  lookUp(who: User, path: string): Inode {
    let at = this.root;
    for (const name of namesOf(path)) {
      if (at.kind !== "directory") throw new Refused("not a directory");
      requireBit(who, at, X);
      at = at.children.get(name) ?? raise("absent");
    }
    return at;
  }

  list(who: User, path: string): string[] {
    const inode = this.lookUp(who, path);
    if (inode.kind !== "directory") throw new Refused("not a directory");
    requireBit(who, inode, R);
    return [...inode.children].map(([name, { kind }]) => `${kind} ${name}`).toSorted();
  }

  read(who: User, path: string): string {
    const inode = this.lookUp(who, path);
    if (inode.kind === "directory") throw new Refused("is a directory");
    requireBit(who, inode, R);
    return inode.content;
  }

  /** mkdir -p of the parents, then open with O_CREAT and O_TRUNC. Creates nothing if any step is refused. */
  write(who: User, path: string, content: string): void {
    const names = namesOf(path);
    const last = names.pop();
    if (last === undefined) throw new Refused("is a directory");
    let at = this.root;
    const created: [Inode, string, Inode][] = [];
    for (const name of names) {
      if (at.kind !== "directory") throw new Refused("not a directory");
      requireBit(who, at, X);
      let next = at.children.get(name);
      if (next === undefined) {
        requireBit(who, at, W);
        next = this.#newDirectory(who, at);
        created.push([at, name, next]);
      }
      at = next;
    }
    if (at.kind !== "directory") throw new Refused("not a directory");
    requireBit(who, at, X);
    const existing = at.children.get(last);
    if (existing?.kind === "directory") throw new Refused("is a directory");
    requireBit(who, existing ?? at, W);
    for (const [parent, name, inode] of created) parent.children.set(name, inode);
    if (existing !== undefined) existing.content = content;
    else at.children.set(last, { kind: "file", uid: who.uid, gid: who.uid, mode: 0o644, content, children: new Map() });
  }

  /** rm -r, except that it removes all or nothing. */
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

  /** Unlike on Linux, a new directory in /home is closed to others, whoever creates it. */
  #newDirectory(who: User, parent: Inode): Inode {
    const isHome = parent === this.root.children.get("home");
    return directory({ uid: who.uid, gid: who.uid, mode: isHome ? 0o750 : 0o755 });
  }

  /** Checks in the order of rename in the Linux kernel. */
  rename(who: User, from: string, to: string): void {
    if (from === "/" || to === "/") throw new Refused("denied");
    const inode = this.lookUp(who, from);
    const [oldParent, oldName] = this.#parent(who, from);
    const [newParent, newName] = this.#parent(who, to);
    const existing = newParent.children.get(newName);
    if (existing === inode) return;
    if (contains(inode, newParent)) throw new Refused("into itself");
    if (existing !== undefined && contains(existing, oldParent)) throw new Refused("not empty");
    mayUnlink(who, oldParent, inode);
    mustNotBeBusy(from, inode);
    if (existing === undefined) mayAdd(who, newParent);
    else {
      mayUnlink(who, newParent, existing);
      mustNotBeBusy(to, existing);
      if (existing.kind === "directory" && inode.kind === "file") throw new Refused("is a directory");
      if (existing.kind === "file" && inode.kind === "directory") throw new Refused("not a directory");
    }
    if (inode.kind === "directory" && oldParent !== newParent) requireBit(who, inode, W);
    if (existing !== undefined && existing.children.size > 0) throw new Refused("not empty");
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
    requireBit(who, parent, X);
    return [parent, name];
  }

  /** Every path with its kind, owner, mode and content. */
  listAll(): string[] {
    const lines: string[] = [];
    const visit = (path: string, { kind, uid, gid, mode, content, children }: Inode) => {
      lines.push(`${path || "/"} ${kind} ${uid} ${gid} ${mode.toString(8)} ${content}`);
      for (const [name, child] of children) visit(`${path}/${name}`, child);
    };
    visit("", this.root);
    return lines.toSorted();
  }
}

/** Fails for directories that cannot be removed, like mount points on Linux. */
function mustNotBeBusy(path: string, { kind }: Inode): void {
  const names = namesOf(path);
  if (PERMANENT.includes(path) || (names[0] === "home" && names.length === 2 && kind === "directory")) throw new Refused("denied");
}

function mayAdd(who: User, parent: Inode): void {
  requireBit(who, parent, W);
  requireBit(who, parent, X);
}

function contains(inode: Inode, other: Inode): boolean {
  return inode === other || [...inode.children.values()].some((child) => contains(child, other));
}

/** Removing an entry writes its directory. In a sticky one the caller must own the entry or the directory. */
function mayUnlink(who: User, parent: Inode, inode: Inode): void {
  requireBit(who, parent, W);
  requireBit(who, parent, X);
  if ((parent.mode & STICKY) !== 0 && ![0, inode.uid, parent.uid].includes(who.uid)) throw new Refused("denied");
}

/** To remove a directory that is not empty, the caller must be able to list it and to remove each entry. */
function mayEmpty(who: User, inode: Inode): void {
  if (inode.kind === "file" || inode.children.size === 0) return;
  requireBit(who, inode, R);
  for (const child of inode.children.values()) {
    mayUnlink(who, inode, child);
    mayEmpty(who, child);
  }
}

function requireBit(who: User, inode: Inode, bit: number): void {
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

// ---- The real mount, with real rows.

class Real {
  readonly sql = new MemorySql();
  readonly files = new Files(this.sql, new Usage(this.sql));
  readonly mount: Mount;

  constructor() {
    migrate(this.sql);
    this.sql.commit();
    this.mount = makeTreeMount({
      reads: this.files,
      transact: async (body) => {
        try {
          return this.sql.transaction(() => body(this.files));
        } catch (error) {
          this.files.onRollback();
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
      uploads: { set: () => {}, drop: () => {}, listByUser: () => [] },
      sha256: (bytes) => createHash("sha256").update(bytes).digest(),
      sha256Async: async (bytes) => createHash("sha256").update(bytes).digest(),
      now: () => 1,
      uuid: randomUUID,
      inlineBytesMax: INLINE_MAX,
    });
  }

  /** Restores the initial state. */
  clear(): void {
    const marks = PERMANENT.map(() => "?").join(", ");
    this.sql.run(`DELETE FROM files WHERE path NOT IN (${marks})`, ...PERMANENT);
    this.sql.run("DELETE FROM file_contents");
    this.sql.run("UPDATE files SET uid = 0, gid = 0, mode = CASE path WHEN '/tmp' THEN 1023 WHEN '/root' THEN 448 ELSE 493 END");
    this.sql.commit();
    this.files.onRollback();
  }

  async listAll(): Promise<string[]> {
    const lines = [];
    for (const node of [this.files.get("/")!, ...this.files.listBelow("/")]) {
      const { path, kind, uid, gid, mode } = node;
      const content = kind === "file" ? text(await this.mount.read(toWho({ uid: 0, gids: [0] }), path)) : "";
      lines.push(`${path} ${kind} ${uid} ${gid} ${mode.toString(8)} ${content}`);
    }
    return lines.toSorted();
  }

  /** Content rows that no file refers to. */
  orphanedContents(): unknown[] {
    return this.sql.all("SELECT hash FROM file_contents WHERE hash NOT IN (SELECT hash FROM files WHERE hash IS NOT NULL)");
  }
}

const text = (content: Uint8Array) => new TextDecoder().decode(content);
const bytes = (content: string) => new TextEncoder().encode(content);

function toWho({ uid, gids }: User): Who {
  const identity = { username: `u${uid}`, home: "/", cwd: "/" };
  return { uid, gid: uid, gids, ...identity, runSyscall: () => Promise.reject(new Error("not here")), checkStillAllowed() {} };
}

function toVerdict(error: unknown): Verdict {
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

async function runToAnswer(work: () => unknown): Promise<Answer> {
  try {
    return { verdict: "ok", value: await work() };
  } catch (error) {
    return { verdict: toVerdict(error) };
  }
}

// ---- Random operations.

type PlantedNode = { path: string; kind: "file" | "directory"; uid: number; gid: number; mode: number };
type OperationName = "stat" | "list" | "read" | "write" | "remove" | "append" | "mkdir" | "rename" | "chmod" | "chown";
type Operation = {
  does: OperationName;
  who: User;
  path: string;
  content: string;
  to: string;
  mode: number;
  uid: number | null;
  gid: number | null;
};
/** Where an operation is aimed: mostly at a planted node, above it or below it. */
type Step = "there" | "above" | "below" | "anywhere";
type Aim = Omit<Operation, "path" | "to"> & { at: number; step: Step; path: string; toAt: number; toStep: Step };

/** In the index "0" sorts after "/", and "-" and "." sort before it. */
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
const planted: fc.Arbitrary<PlantedNode> = fc.record({
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
const aim = (does: readonly OperationName[]): fc.Arbitrary<Aim> =>
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

function toOperation(tree: readonly PlantedNode[], { at, step, path: elsewhere, toAt, toStep, ...rest }: Aim): Operation {
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

/** Builds the same tree in both. Parents come first, so that all nodes can be reached; nodes that do not fit are left out. */
async function plant(real: Real, all: readonly PlantedNode[]): Promise<Linux> {
  const linux = new Linux();
  real.clear();
  const root = { uid: 0, gids: [0] };
  for (const { path: at, kind, uid, gid, mode: bits } of all.toSorted((a, b) => a.path.length - b.path.length)) {
    const names = namesOf(at);
    const name = names.pop();
    const parent = `/${names.join("/")}`;
    const into = await runToAnswer(() => linux.lookUp(root, parent));
    if (name === undefined || into.verdict !== "ok") continue;
    const { kind: intoKind, children } = into.value as Inode;
    if (intoKind !== "directory") continue;
    const existing = children.get(name);
    const isFile = (existing?.kind ?? kind) === "file";
    const words = isFile ? `content of ${at}` : "";
    if (existing !== undefined && !PERMANENT.includes(at)) Object.assign(existing, { uid, gid, mode: bits });
    else if (existing === undefined) children.set(name, { ...directory({ uid, gid, mode: bits }), kind, content: words });
    else continue;
    if (isFile) await real.mount.write(toWho(root), at, bytes(words), {});
    const row = isFile ? real.files.get(at)! : { path: at, kind: "directory" as const, size: 0, hash: null, modifiedAt: 0 };
    real.files.put({ ...row, uid, gid, mode: bits }, parent, null);
    real.sql.commit();
  }
  return linux;
}

function runInLinux(linux: Linux, { does, who, path: at, content: words, to, mode: bits, uid, gid }: Operation): unknown {
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

async function runInReal(
  { mount }: Real,
  { does, who: user, path: at, content: words, to, mode: bits, uid, gid }: Operation,
): Promise<unknown> {
  const who = toWho(user);
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

/** Returns how often each operation had each verdict. `skips` excludes operations that are not compared. */
async function compareWithLinux(
  does: readonly OperationName[],
  more: { endOnFailure?: boolean },
  skips = (_linux: Linux, _operation: Operation) => false,
) {
  const counts: Record<string, number> = {};
  const real = new Real();
  const trees = fc.array(planted, { minLength: 4, maxLength: 24 });
  const property = fc.asyncProperty(trees, fc.array(aim(does), { minLength: 1, maxLength: 12 }), async (tree, aims) => {
    const linux = await plant(real, tree);
    for (const each of aims.map((one) => toOperation(tree, one))) {
      if (skips(linux, each)) continue;
      const expected = await runToAnswer(() => runInLinux(linux, each));
      const actual = await runToAnswer(() => runInReal(real, each));
      expect(actual, JSON.stringify(each)).toEqual(expected);
      const name = `${each.does} ${expected.verdict}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    expect(await real.listAll()).toEqual(linux.listAll());
    expect(real.orphanedContents()).toEqual([]);
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
  it("allows stat, list, read and write exactly where Linux does", async () => {
    const counts = await compareWithLinux(["stat", "list", "read", "write"], {});
    for (const does of ["stat", "list", "read", "write"])
      for (const verdict of ["ok", "denied"]) expect(counts[`${does} ${verdict}`], `${does} ${verdict}`).toBeGreaterThan(10);
  });

  it("allows deleting a file exactly where Linux does", async () => {
    const counts = await compareWithLinux(
      ["remove", "remove", "write"],
      {},
      (linux, { does, path }) => does === "remove" && isDirectory(linux, path),
    );
    for (const verdict of ["ok", "denied", "absent"]) expect(counts[`remove ${verdict}`], verdict).toBeGreaterThan(10);
  });

  it("allows deleting a directory exactly where Linux does", async () => {
    const counts = await compareWithLinux(["remove", "remove", "list", "write"], {});
    for (const verdict of ["ok", "denied", "absent"]) expect(counts[`remove ${verdict}`], verdict).toBeGreaterThan(10);
  });

  it("allows append, mkdir, chmod and chown exactly where Linux does", async () => {
    const counts = await compareWithLinux(["append", "mkdir", "chmod", "chown", "write"], {});
    for (const does of ["append", "mkdir", "chmod", "chown"])
      for (const verdict of ["ok", "denied"]) expect(counts[`${does} ${verdict}`], `${does} ${verdict}`).toBeGreaterThan(10);
    expect(counts["mkdir exists"]).toBeGreaterThan(10);
  });

  it("allows rename exactly where Linux does", async () => {
    const counts = await compareWithLinux(["rename", "rename", "rename", "chmod", "write"], {});
    for (const verdict of ["ok", "denied", "absent"]) expect(counts[`rename ${verdict}`], verdict).toBeGreaterThan(10);
  });

  it("replaces a file by a file and an empty directory by a directory, and nothing else", async () => {
    const { mount, files } = new Real();
    const root = toWho({ uid: 0, gids: [0] });
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
    expect(files.listBelow("/srv").map(({ path }) => path)).toEqual([
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

  it("keeps and reports the owner and mode of a file that is overwritten", async () => {
    const { mount } = new Real();
    const [root, alice] = [toWho({ uid: 0, gids: [0] }), toWho({ uid: 1000, gids: [1000, 100] })];
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

  it("loses no append when many run at once", async () => {
    const { mount } = new Real();
    const root = toWho({ uid: 0, gids: [0] });
    await Promise.all(Array.from({ length: 60 }, (_, at) => mount.append(root, "/var/log", bytes(`${at}\n`))));
    const lines = text(await mount.read(root, "/var/log"))
      .trim()
      .split("\n");
    expect(lines.map(Number)).toEqual(Array.from({ length: 60 }, (_, at) => at));
  });

  it("refuses a file that is too large, and a move that would make paths too long", async () => {
    const { mount } = new Real();
    const root = toWho({ uid: 0, gids: [0] });
    expect(() => mustFit("/x", 256 * 1024 * 1024)).not.toThrow();
    expect(() => mustFit("/x", 256 * 1024 * 1024 + 1)).toThrow(expect.objectContaining({ code: "EFBIG" }) as Error);
    const deep = `/tmp/d${`/${"n".repeat(200)}`.repeat(4)}`;
    await mount.write(root, `${deep}/file`, bytes("x"), {});
    await expect(mount.rename(root, "/tmp/d", `/tmp/${"e".repeat(250)}`)).rejects.toMatchObject({ code: "ENAMETOOLONG" });
    await mount.rename(root, "/tmp/d", "/tmp/e");
    expect(text(await mount.read(root, `${deep.replace("/tmp/d", "/tmp/e")}/file`))).toBe("x");
  });

  it("finds a file, its ancestors and the entries of a directory by index", () => {
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
