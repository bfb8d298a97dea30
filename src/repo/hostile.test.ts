// Packs, trees and names that no honest git would send: each is refused with an error and leaves nothing behind.

import { createHash, randomBytes } from "node:crypto";
import { deflateSync, gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NodeSql } from "../hosts/node/sql.ts";
import { type SqlValue, StorageError } from "../ports/sql.ts";
import type { Limits } from "./limits.ts";
import { ZERO_OID } from "./oid.ts";
import { pkt } from "./pkt-line.ts";
import type { ReceiveResult, RefUpdate } from "./receive.ts";
import { Repository } from "./repository.ts";
import { serveGit } from "./serve.ts";

const sam = { name: "sam", email: "sam@gsv.local" };
const now = 1_700_000_000_000;
const [COMMIT, TREE, BLOB, TAG, OFS, REF] = [1, 2, 3, 4, 6, 7] as const;
const KINDS = ["", "commit", "tree", "blob", "tag"];

/** `size` is what the header claims; `base` follows the header; `zlib` replaces the compressed data. */
type Entry = { type: number; data: Buffer; size?: number; zlib?: Buffer; base?: Buffer };

const oid = ({ type, data }: Entry) => createHash("sha1").update(`${KINDS[type]} ${data.length}\0`).update(data).digest("hex");
const blob = (content: string | Buffer): Entry => ({ type: BLOB, data: Buffer.from(content) });

function tree(...entries: [mode: string, name: string | Buffer, oid: string][]): Entry {
  const parts = entries.map(([mode, name, id]) =>
    Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name), Buffer.alloc(1), Buffer.from(id, "hex")]),
  );
  return { type: TREE, data: Buffer.concat(parts) };
}

const AUTHOR = "kim <kim@example.org> 1700000000 +0000";

function commit(treeOid: string, parents: string[] = [], tail = "\nmessage\n", author = AUTHOR): Entry {
  const lines = [`tree ${treeOid}`, ...parents.map((parent) => `parent ${parent}`), `author ${author}`, `committer ${author}`];
  return { type: COMMIT, data: Buffer.from(`${lines.join("\n")}\n${tail}`) };
}

const text = (type: number, content: string): Entry => ({ type, data: Buffer.from(content) });
const refDelta = (base: string, data: Buffer): Entry => ({ type: REF, data, base: Buffer.from(base, "hex") });

function ofsDelta(offset: number, data: Buffer): Entry {
  const bytes = [offset & 0x7f];
  for (let rest = offset >> 7; rest > 0; rest >>= 7) bytes.unshift(0x80 | (--rest & 0x7f));
  return { type: OFS, data, base: Buffer.from(bytes) };
}

function varint(n: number, first = 7): number[] {
  const bytes: number[] = [];
  for (let rest = n, bits = first; ; bits = 7) {
    const low = rest % 2 ** bits;
    rest = Math.floor(rest / 2 ** bits);
    bytes.push(rest > 0 ? low | (bits === 7 ? 0x80 : 0) : low);
    if (rest === 0) return bytes;
  }
}

const delta = (from: number, to: number, ...ops: number[]) => Buffer.from([...varint(from), ...varint(to), ...ops]);

function entryBytes({ type, data, size = data.length, zlib = deflateSync(data), base = Buffer.alloc(0) }: Entry): Buffer {
  const [low = 0, ...rest] = varint(size, 4);
  return Buffer.concat([Buffer.from([(type << 4) | low | (rest.length > 0 ? 0x80 : 0), ...rest]), base, zlib]);
}

type PackOptions = { count?: number; version?: number; magic?: string; trailer?: Buffer; extra?: Buffer };

function pack(
  entries: readonly Entry[],
  { count = entries.length, version = 2, magic = "PACK", trailer, extra }: PackOptions = {},
): Buffer {
  const header = Buffer.alloc(12);
  header.write(magic, "latin1");
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(count, 8);
  const body = Buffer.concat([header, ...entries.map(entryBytes)]);
  return Buffer.concat([body, trailer ?? createHash("sha1").update(body).digest(), extra ?? Buffer.alloc(0)]);
}

function toStream(bytes: Uint8Array, pieceBytes = 65_536): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(new Uint8Array(bytes.subarray(at, at + pieceBytes)));
      at += pieceBytes;
    },
  });
}

/** A repository with one commit on main. */
function repositoryWithCommit(limits: Partial<Limits> = {}): Repository {
  const repository = new Repository(new NodeSql(":memory:", () => {}), limits);
  repository.apply({ message: "first", ops: [{ type: "put", path: "a", content: "standing\n" }], author: sam, now });
  return repository;
}

/** A summary of all tables, to check that nothing changed. */
function summarize({ store }: Repository): unknown {
  const count = (query: string) => store.sql.get(query)!.n;
  return {
    refs: store.refs.list(),
    head: store.refs.head(),
    objects: count("SELECT count(*) AS n FROM objects"),
    commits: count("SELECT count(*) AS n FROM commits"),
    chunks: count("SELECT count(*) AS n FROM chunks"),
    used: count("SELECT sum(chunks) AS n FROM objects"),
    incoming: count("SELECT count(*) AS n FROM incoming"),
    bytes: store.objects.storedBytes,
  };
}

const updateTo = (entry: Entry, ref = "refs/heads/evil"): RefUpdate => ({ ref, from: null, to: oid(entry) });

async function expectRefused(bytes: Uint8Array, update: RefUpdate, why: string, limits: Partial<Limits> = {}): Promise<void> {
  const repository = repositoryWithCommit(limits);
  const before = summarize(repository);
  const received = await repository.receive(toStream(bytes, 1000), [update]);
  expect(received.unpack ?? received.refs[0]!.fault).toContain(why);
  expect(summarize(repository)).toEqual(before);
}

async function expectAccepted(bytes: Uint8Array, update: RefUpdate, repository = repositoryWithCommit()): Promise<Repository> {
  const received = await repository.receive(toStream(bytes, 777), [update]);
  expect(received).toEqual({ unpack: null, refs: [{ ref: update.ref, fault: null }] } satisfies ReceiveResult);
  expect(summarize(repository)).toMatchObject({ incoming: 0 });
  const { chunks, used } = summarize(repository) as { chunks: number; used: number };
  expect(chunks).toBe(used);
  expect(repository.store.sql.get("SELECT sum(length(bytes) + 512) AS bytes FROM chunks")).toEqual({
    bytes: repository.store.objects.storedBytes,
  });
  return repository;
}

const content = blob("content\n");
const goodTree = tree(["100644", "file", oid(content)]);
const good = commit(oid(goodTree));
const goodPack = pack([content, goodTree, good]);

/** A pack with a commit of this tree and everything it references. */
function withTree(bad: Entry, ...more: Entry[]): { bytes: Buffer; update: RefUpdate } {
  const tip = commit(oid(bad));
  return { bytes: pack([content, ...more, bad, tip]), update: updateTo(tip) };
}

describe("trees", () => {
  const names: [string | Buffer, string][] = [".git", ".GIT", ".Git", "git~1", "GIT~1", ".git ", ".git.", ".git::$INDEX_ALLOCATION"].map(
    (name) => [name, ".git"],
  );
  names.push([".g\u200cit", ".git"], ["\ufeff.git", ".git"], [".gi\u200dt ", ".git"], [".git\\hooks", ".git"], ["x\\.GIT", ".git"]);
  names.push(["..", "'..'"], [".", "'.'"], ["", "empty"], ["a/b", "slash"], ["a\nb", "line break"], ["a\rb", "line break"]);
  names.push(["C:evil", "drive"], ["\\\\server\\x", "backslash"], ["a\\..\\b", "'..'"], ["x".repeat(300), "too long"]);
  names.push([Buffer.from([0xff, 0xfe]), "UTF-8"], [Buffer.from([0xc0, 0xaf]), "UTF-8"]);
  test.each(names)("a tree with the name %j is refused", async (name, why) => {
    const { bytes, update } = withTree(tree(["100644", name, oid(content)]));
    await expectRefused(bytes, update, why);
    const nested = withTree(tree(["40000", "d", oid(tree(["100644", name, oid(content)]))]), tree(["100644", name, oid(content)]));
    await expectRefused(nested.bytes, nested.update, why);
  });

  test.each(["160000", "040000", "100777", "0", "", "777777", "100640", "1006440", "10064x", "-1"])(
    "a tree with the mode %j is refused",
    async (mode) => {
      const { bytes, update } = withTree(tree([mode, "file", oid(content)]));
      await expectRefused(bytes, update, mode === "160000" ? "submodules are not supported" : "Bad tree");
    },
  );

  const file = (name: string): [string, string, string] => ["100644", name, oid(content)];
  const cases: [string, Entry, string][] = [
    ["entries out of order", tree(file("b"), file("a")), "out of order"],
    ["a directory sorted like a file", tree(["40000", "a", oid(goodTree)], file("a.b")), "out of order"],
    ["two entries of one name", tree(file("a"), file("a")), "two entries"],
    ["a file and a directory of one name", tree(file("a"), file("a.b"), ["40000", "a", oid(goodTree)]), "two entries"],
    ["an entry that points nowhere", tree(["100644", "a", ZERO_OID]), "points nowhere"],
    ["an entry that is missing", tree(["100644", "a", "1".repeat(40)]), "is missing"],
    ["a file that is a tree", tree(["100644", "a", oid(goodTree)]), "is used as a blob"],
    ["a directory that is a file", tree(["40000", "a", oid(content)]), "as a tree"],
    ["one object as file and directory", tree(file("a"), ["40000", "b", oid(content)]), "as a blob and as a tree"],
    [".gitmodules as a link", tree(["120000", ".gitmodules", oid(content)]), "symbolic link"],
    [".GITattributes as a link", tree(["120000", ".GITattributes", oid(content)]), "symbolic link"],
    ["gitmod~1 as a link", tree(["120000", "gitmod~1", oid(content)]), "symbolic link"],
    ["a hash that is cut off", { type: TREE, data: goodTree.data.subarray(0, -3) }, "cut short"],
    ["a name that is cut off", { type: TREE, data: Buffer.from("100644 nam") }, "cut short"],
    ["garbage", { type: TREE, data: randomBytes(100) }, "Bad tree"],
  ];
  test.each(cases)("a tree with %s is refused", async (_, bad, why) => {
    const { bytes, update } = withTree(bad, goodTree);
    await expectRefused(bytes, update, why);
  });

  test("a symbolic link is stored and not followed", async () => {
    const link = blob("../../etc/passwd");
    const { bytes, update } = withTree(tree(["120000", "link", oid(link)]), link);
    const repository = await expectAccepted(bytes, update);
    expect(repository.read("evil", "")).toMatchObject({ entries: [{ name: "link", mode: "120000", type: "symlink" }] });
    expect(repository.read("evil", "link")).toMatchObject({ content: "../../etc/passwd" });
    expect(() => repository.read("evil", "link/x")).toThrow("Path not found");
    expect((await repository.search("evil", "passwd")).matches).toEqual([]);
  });

  test("trees that expand to millions of files are accepted, and search and diff stay cheap", async () => {
    const levels = [goodTree];
    for (let i = 0; i < 10; i++)
      levels.push(tree(...Array.from({ length: 10 }, (_, n): [string, string, string] => ["40000", `d${n}`, oid(levels[i]!)])));
    const tip = commit(oid(levels.at(-1)!));
    const repository = await expectAccepted(pack([content, ...levels, tip]), updateTo(tip));
    const started = performance.now();
    expect(await repository.search("evil", "nothing")).toMatchObject({ truncated: true, matches: [] });
    expect(await repository.diff("evil")).toMatchObject({ truncated: true });
    expect((await repository.compare("main", "evil", 3, true)).truncated).toBe(true);
    expect(performance.now() - started).toBeLessThan(90_000);
  });

  test("trees that expand to millions of directories without a file are accepted, and a diff stays cheap", async () => {
    const levels = [tree()];
    for (let i = 0; i < 60; i++) levels.push(tree(["40000", "a", oid(levels[i]!)], ["40000", "b", oid(levels[i]!)]));
    const tip = commit(oid(levels.at(-1)!));
    const repository = await expectAccepted(pack([...levels, tip]), updateTo(tip));
    expect(await repository.diff("evil")).toMatchObject({ truncated: true, files: [] });
  });

  test("very deep trees are accepted, and search and diff are truncated", async () => {
    const levels = [goodTree];
    for (let i = 0; i < 2000; i++) levels.push(tree(["40000", "d", oid(levels[i]!)]));
    const tip = commit(oid(levels.at(-1)!));
    const repository = await expectAccepted(pack([content, ...levels, tip]), updateTo(tip));
    expect((await repository.search("evil", "content")).truncated).toBe(true);
    expect((await repository.diff("evil")).truncated).toBe(true);
  });
});

test("a diff of many files with nothing in common ends in time and yields to the event loop", async () => {
  const repository = new Repository(new NodeSql(":memory:", () => {}));
  const lines = (word: string) => Array.from({ length: 1100 }, (_, n) => `${word} ${n}\n`).join("");
  const put = (word: string) =>
    repository.apply({
      ref: "main",
      message: word,
      ops: Array.from({ length: 60 }, (_, n) => ({ type: "put" as const, path: `${n}.txt`, content: lines(word) })),
      author: sam,
      now,
    });
  put("before");
  put("after");
  let turns = 0;
  const others = setInterval(() => turns++, 0);
  const started = performance.now();
  const { stats } = await repository.diff("main");
  clearInterval(others);
  expect(stats).toEqual({ filesChanged: 60, additions: 66_000, deletions: 66_000 });
  expect(performance.now() - started).toBeLessThan(90_000);
  expect(turns).toBeGreaterThan(0);
});

describe("commits and tags", () => {
  const cases: [string, Entry, string][] = [
    ["no tree", text(COMMIT, `author ${AUTHOR}\ncommitter ${AUTHOR}\n\nm`), "names no tree"],
    ["a tree in capitals", commit(oid(goodTree).toUpperCase()), "names no tree"],
    ["a tree that is a blob", commit(oid(content)), "as a tree"],
    ["a tree that is missing", commit("2".repeat(40)), "is missing"],
    ["a parent that is missing", commit(oid(goodTree), ["3".repeat(40)]), "is missing"],
    ["a parent that is a tree", commit(oid(goodTree), [oid(goodTree)]), "as a tree and as a commit"],
    ["a parent twice", commit(oid(goodTree), [oid(good), oid(good)]), "same parent twice"],
    [
      "two thousand parents",
      commit(
        oid(goodTree),
        Array.from({ length: 2000 }, (_, i) => String(i).padStart(40, "0")),
      ),
      "parents",
    ],
    ["no author", text(COMMIT, `tree ${oid(goodTree)}\ncommitter ${AUTHOR}\n\nm`), "author line"],
    ["no date", commit(oid(goodTree), [], "\nm", "kim <kim@example.org>"), "author line"],
    ["a broken address", commit(oid(goodTree), [], "\nm", "kim <<x>> 1 +0000"), "author line"],
    ["a date out of range", commit(oid(goodTree), [], "\nm", "kim <x> 99999999999999999999 +0000"), "author line"],
    ["a NUL", commit(oid(goodTree), [], "\nm\0x"), "a NUL"],
    ["its headers cut short", text(COMMIT, `tree ${oid(goodTree)}`), "cut short"],
    ["no content", text(COMMIT, ""), "cut short"],
    ["two megabytes of message", commit(oid(goodTree), [], `\n${"m".repeat(2_000_000)}`), "too long"],
  ];
  test.each(cases)("a commit with %s is refused", async (_, bad, why) => {
    await expectRefused(pack([content, goodTree, good, bad]), updateTo(bad), why);
  });

  const tag = (target: string, type: string, name = "v1") =>
    text(TAG, `object ${target}\ntype ${type}\ntag ${name}\ntagger ${AUTHOR}\n\nm\n`);
  const tags: [string, Entry, string][] = [
    ["a target that is missing", tag("4".repeat(40), "commit"), "is missing"],
    ["a target of another type", tag(oid(good), "blob"), "is used as a blob"],
    ["an unknown type", tag(oid(good), "exe"), "names no type"],
    ["no name", tag(oid(good), "commit", ""), "its name"],
    ["a broken tagger", text(TAG, `object ${oid(good)}\ntype commit\ntag v1\ntagger nobody\n\nm\n`), "tagger"],
    ["garbage", text(TAG, "\n\n"), "names no object"],
  ];
  test.each(tags)("a tag with %s is refused", async (_, bad, why) => {
    await expectRefused(pack([content, goodTree, good, bad]), updateTo(bad, "refs/tags/v1"), why);
  });

  test("a valid tag is stored and resolves to its commit", async () => {
    const v1 = tag(oid(good), "commit");
    const repository = await expectAccepted(pack([v1, good, goodTree, content]), updateTo(v1, "refs/tags/v1"));
    expect(repository.log("v1").entries[0]!.hash).toBe(oid(good));
    expect(repository.refs().tags).toEqual({ v1: oid(v1) });
  });
});

describe("packs", () => {
  const damaged = Buffer.from(goodPack);
  damaged[damaged.length - 30]! ^= 0x40;
  const dictionary = deflateSync(content.data, { dictionary: Buffer.from("content") });
  const zlib = deflateSync(content.data);
  const cases: [string, Uint8Array, string][] = [
    ["no bytes", Buffer.alloc(0), "ends too early"],
    ["another signature", pack([content], { magic: "KCAP" }), "its header is wrong"],
    ["another version", pack([content], { version: 9 }), "version 9"],
    ["fewer objects than it says", pack([content, goodTree, good], { count: 4 }), "Bad"],
    ["more objects than it says", pack([content, goodTree, good], { count: 2 }), "checksum is wrong"],
    ["a wrong checksum", pack([content, goodTree, good], { trailer: Buffer.alloc(20) }), "checksum is wrong"],
    ["a flipped bit", damaged, ""],
    ["something after its end", pack([content, goodTree, good], { extra: Buffer.from("x") }), "data after its end"],
    ["its checksum cut off", goodPack.subarray(0, -5), "ends too early"],
    ["an object cut off", goodPack.subarray(0, 20), "cut short"],
    ["an entry of type 0", pack([{ ...content, type: 0 }]), "type 0"],
    ["an entry of type 5", pack([{ ...content, type: 5 }]), "type 5"],
    ["an object larger than it says", pack([{ ...content, size: 3 }]), "more than its stated size"],
    ["an object smaller than it says", pack([{ ...content, size: 30 }]), "less than its stated size"],
    ["no zlib", pack([{ ...content, zlib: Buffer.from("not compressed at all") }]), "damaged"],
    ["zlib with a dictionary", pack([{ ...content, zlib: dictionary }]), "damaged"],
    ["zlib with a wrong checksum", pack([{ ...content, zlib: Buffer.concat([zlib.subarray(0, -4), Buffer.alloc(4)]) }]), "damaged"],
    ["gzip instead of zlib", pack([{ ...content, zlib: gzipSync(content.data) }]), "damaged"],
    ["an object of a petabyte", pack([{ ...content, size: 2 ** 50 }]), "too large"],
    ["a size without end", Buffer.concat([goodPack.subarray(0, 12), Buffer.alloc(40, 0xff)]), "size that is too large"],
    ["an object over the limit", pack([{ ...content, size: 64 * 1024 * 1024 + 1 }]), "Object too large"],
  ];
  test.each(cases)("a pack with %s is refused", async (_, bytes, why) => {
    await expectRefused(bytes, updateTo(good), why);
  });

  const size = content.data.length;
  const offset = entryBytes(content).length;
  const deltas: [string, Entry, string][] = [
    ["a base before the pack", ofsDelta(9999, delta(size, 1, 1, 65)), "not before it"],
    ["itself as a base", ofsDelta(0, delta(size, 1, 1, 65)), "not before it"],
    ["a base between entries", ofsDelta(offset - 1, delta(size, 1, 1, 65)), "not an entry"],
    ["a base that is missing", refDelta("5".repeat(40), delta(size, 1, 1, 65)), "base is missing"],
    ["a base of another size", ofsDelta(offset, delta(size + 1, 1, 1, 65)), "another base"],
    ["a copy past the end", ofsDelta(offset, delta(size, 9, 0x91, 4, 9)), "past the end"],
    ["a copy from far away", ofsDelta(offset, delta(size, 9, 0x9f, 255, 255, 255, 255, 9)), "past the end"],
    ["an insert past the end", ofsDelta(offset, delta(size, 9, 9, 65)), "cut short"],
    ["a copy without its numbers", ofsDelta(offset, delta(size, 9, 0xff)), "cut short"],
    ["the reserved instruction", ofsDelta(offset, delta(size, 1, 0, 1, 65)), "unknown instruction"],
    ["more output than it declares", ofsDelta(offset, delta(size, 1, 2, 65, 65)), "more than its stated size"],
    ["less output than it declares", ofsDelta(offset, delta(size, 9, 2, 65, 65)), "less than its stated size"],
    ["no content", ofsDelta(offset, Buffer.alloc(0)), "cut short"],
    ["a result of a petabyte", ofsDelta(offset, Buffer.from([...varint(size), ...varint(2 ** 40)])), "Object too large"],
    ["numbers without end", ofsDelta(offset, Buffer.alloc(20, 0xff)), "too large"],
  ];
  test.each(deltas)("a delta with %s is refused", async (_, bad, why) => {
    await expectRefused(pack([content, bad, goodTree, good]), updateTo(good), why);
  });

  /** A chain in which each delta appends one letter to its base. */
  function chain(length: number): { entries: Entry[]; last: Entry } {
    const entries = [blob("x")];
    let last = blob("x");
    for (let i = 0; i < length; i++) {
      const before = last.data.length;
      entries.push(ofsDelta(entryBytes(entries.at(-1)!).length, delta(before, before + 1, 0x90, before, 1, 121)));
      last = blob(Buffer.concat([last.data, Buffer.from("y")]));
    }
    return { entries, last };
  }

  test("a chain of fifty deltas is accepted, and one of 51 is refused", async () => {
    for (const [length, isFine] of [
      [50, true],
      [51, false],
    ] as const) {
      const { entries, last } = chain(length);
      const top = tree(["100644", "f", oid(last)]);
      const tip = commit(oid(top));
      const bytes = pack([...entries, top, tip]);
      if (isFine) expect((await expectAccepted(bytes, updateTo(tip))).read("evil", "f")).toMatchObject({ content: `x${"y".repeat(50)}` });
      else await expectRefused(bytes, updateTo(tip), "more than 50 deltas");
    }
  });

  test("deltas resolve against stored objects, later bases and other waiting deltas", async () => {
    const thin = blob("standing\nand more\n");
    const late = blob("content\n!");
    const later = blob("content\n!?");
    const top = tree(["100644", "a", oid(thin)], ["100644", "b", oid(late)], ["100644", "c", oid(later)]);
    const tip = commit(oid(top));
    const standingOid = oid(blob("standing\n"));
    const bytes = pack([
      refDelta(oid(late), delta(9, 10, 0x90, 9, 1, 63)),
      refDelta(oid(content), delta(8, 9, 0x90, 8, 1, 33)),
      refDelta(standingOid, delta(9, 18, 0x90, 9, 9, ...Buffer.from("and more\n"))),
      content,
      top,
      tip,
    ]);
    const repository = await expectAccepted(bytes, updateTo(tip));
    expect(repository.read("evil", "c")).toMatchObject({ content: "content\n!?" });
    await expectRefused(bytes, updateTo(tip), "deltas before their base", { waitingBytes: 300 });
  });

  test("two deltas whose bases never arrive are refused", async () => {
    const [a, b] = ["6".repeat(40), "7".repeat(40)];
    await expectRefused(
      pack([refDelta(a, delta(1, 1, 1, 65)), refDelta(b, delta(1, 1, 1, 65)), content, goodTree, good]),
      updateTo(good),
      "base is missing",
    );
  });

  test("limits apply to size, object count, expansion, tree entries and references", async () => {
    await expectRefused(goodPack, updateTo(good), "Pack too large", { packBytes: goodPack.length - 1 });
    await expectAccepted(goodPack, updateTo(good), repositoryWithCommit({ packBytes: goodPack.length }));
    await expectRefused(goodPack, updateTo(good), "3 objects (at most 2)", { packObjects: 2 });
    await expectRefused(pack([], { count: 0xffffffff }), updateTo(good), "Pack too large");
    const zeros = Array.from({ length: 20 }, (_, i) => blob(Buffer.alloc(1_000_000, i)));
    await expectRefused(pack([...zeros, content, goodTree, good]), updateTo(good), "unpacks to more than", { inflatedBytes: 10_000_000 });
    await expectRefused(pack([blob(Buffer.alloc(70_000)), content, goodTree, good]), updateTo(good), "Object too large", {
      objectBytes: 65_536,
    });
    const wide = tree(...Array.from({ length: 101 }, (_, i): [string, string, string] => ["100644", `f${1000 + i}`, oid(content)]));
    const tip = commit(oid(wide));
    await expectRefused(pack([content, wide, tip]), updateTo(tip), "more than 100 entries", { treeEntries: 100 });
    await expectRefused(goodPack, updateTo(good), "points to more than 1 objects", { packReferences: 1 });
    // Each delta has a few bytes and expands to more than 600 kilobytes.
    const base = blob(Buffer.alloc(65_536));
    const bomb = Array.from({ length: 16 }, (_, i) =>
      refDelta(oid(base), delta(65_536, 655_361 + i, ...Array.from({ length: 10 }, () => 0x80), 1 + i, ...Buffer.alloc(1 + i, 66))),
    );
    await expectRefused(pack([base, ...bomb, content, goodTree, good]), updateTo(good), "unpacks to more than", {
      inflatedBytes: 5_000_000,
    });
  });

  test("an object whose hash collides with a stored one is refused", async () => {
    const repository = repositoryWithCommit();
    await expectAccepted(goodPack, updateTo(good), repository);
    // Simulates a SHA-1 collision.
    repository.store.sql.run(
      "UPDATE chunks SET bytes = ? WHERE id = (SELECT first FROM objects WHERE oid = ?)",
      deflateSync("CONTENT\n"),
      oid(content),
    );
    const before = summarize(repository);
    const received = await repository.receive(toStream(goodPack), [{ ref: "refs/heads/other", from: null, to: oid(good) }]);
    expect(received.unpack).toContain("collides");
    expect(summarize(repository)).toEqual(before);
  });

  test("an object that is twice in one pack is stored once", async () => {
    const repository = await expectAccepted(pack([content, content, goodTree, good, goodTree]), updateTo(good));
    expect(repository.read("evil", "file")).toMatchObject({ content: "content\n" });
  });

  test("a push over the owner's quota leaves nothing, and one that fits is accepted", async () => {
    const repository = repositoryWithCommit();
    const { objects } = repository.store;
    const large = blob(randomBytes(20_000).toString("base64"));
    const listing = tree(["100644", "large", oid(large)]);
    const tip = commit(oid(listing));
    objects.setQuota({ bytes: objects.storedBytes + 10_000, says: "Quota exceeded: sam" });
    const before = summarize(repository);
    const received = await repository.receive(toStream(pack([large, listing, tip]), 1000), [updateTo(tip)]);
    expect(received).toEqual({ unpack: "Quota exceeded: sam", refs: [{ ref: "refs/heads/evil", fault: "unpacker error" }] });
    expect(summarize(repository)).toEqual(before);
    await expectAccepted(goodPack, updateTo(good), repository);
    objects.setQuota(null);
    await expectAccepted(pack([large, listing, tip]), updateTo(tip, "refs/heads/large"), repository);
  });

  test("a stream that fails leaves nothing behind", async () => {
    const repository = repositoryWithCommit();
    const before = summarize(repository);
    let sent = false;
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent) controller.error(new Error("gone"));
        else controller.enqueue(new Uint8Array(goodPack.subarray(0, goodPack.length - 30)));
        sent = true;
      },
    });
    await expect(repository.receive(broken, [updateTo(good)])).rejects.toThrow("gone");
    expect(summarize(repository)).toEqual(before);
  });

  test("the next start drops what a crash left in quarantine", async () => {
    const sql = new NodeSql(":memory:", () => {});
    const repository = new Repository(sql);
    repository.create("sam/x", sam, now);
    const before = summarize(repository);
    const stuck = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(goodPack.subarray(0, -20))) });
    void repository.receive(stuck, [updateTo(good)]);
    await expect.poll(() => summarize(repository)).not.toEqual(before);
    expect(summarize(new Repository(sql))).toEqual(before);
  });

  test("if any single write to disk fails, the push or commit changes nothing", async () => {
    let left = Number.POSITIVE_INFINITY;
    class FailingSql extends NodeSql {
      override run(query: string, ...bindings: SqlValue[]): number {
        if (--left === 0) throw new StorageError(true, "test");
        return super.run(query, ...bindings);
      }
    }
    const repository = new Repository(new FailingSql(":memory:", () => {}));
    repository.create("sam/x", sam, now);
    const before = summarize(repository);
    let failures = 0;
    for (let at = 1; ; at++) {
      left = at;
      const received = await repository.receive(toStream(goodPack), [updateTo(good)]);
      left = Number.POSITIVE_INFINITY;
      if (received.unpack === null) break;
      failures++;
      expect(received.unpack).toContain("Storage is full");
      expect(summarize(repository)).toEqual(before);
    }
    expect(failures).toBeGreaterThan(10);
    const after = summarize(repository);
    for (let at = 1; at < 8; at++) {
      left = at;
      const ops = [{ type: "put" as const, path: "x/y", content: "new" }];
      expect(() => repository.apply({ message: "m", ops, author: sam, now })).toThrow("Storage is full");
      left = Number.POSITIVE_INFINITY;
      expect(summarize(repository)).toEqual(after);
    }
  });

  test("concurrent pushes of the same objects store them once", async () => {
    const repository = repositoryWithCommit();
    const received = await Promise.all([
      repository.receive(toStream(goodPack, 10), [updateTo(good, "refs/heads/one")]),
      repository.receive(toStream(goodPack, 11), [updateTo(good, "refs/heads/two")]),
      repository.receive(toStream(goodPack, 12), [updateTo(good, "refs/heads/two")]),
    ]);
    expect(received.map(({ refs }) => refs[0]!.fault).filter((fault) => fault !== null)).toEqual(["stale info"]);
    const { chunks, used, incoming } = summarize(repository) as { chunks: number; used: number; incoming: number };
    expect([chunks, incoming]).toEqual([used, 0]);
  });

  test("a randomly changed pack is refused or harmless", async () => {
    const entries = [content, refDelta(oid(content), delta(8, 9, 0x90, 8, 1, 33)), goodTree, good];
    const bytes = pack(entries);
    const repository = repositoryWithCommit();
    const before = summarize(repository);
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255), fc.boolean());
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(200), async (changes, cut) => {
        const mutated = Buffer.from(bytes);
        for (const [at, value] of changes) mutated[at] = value;
        if (mutated.equals(bytes)) return;
        const isSealed = changes[0]![2];
        const body = mutated.subarray(0, cut < 100 ? -20 : Math.max(0, mutated.length - 20 - (cut - 100)));
        // Half of the packs get a valid checksum, so that the later checks run too.
        const sent = isSealed ? Buffer.concat([body, createHash("sha1").update(body).digest()]) : mutated;
        const received = await repository.receive(toStream(sent, 64), [updateTo(good)]);
        if (received.unpack === null && received.refs[0]!.fault === null) {
          expect(repository.read("evil", "file")).toMatchObject({ content: "content\n" });
          await repository.receive(null, [{ ref: "refs/heads/evil", from: oid(good), to: null }]);
        } else expect(summarize(repository)).toMatchObject({ incoming: 0, refs: (before as { refs: unknown }).refs });
      }),
      { numRuns: 400 },
    );
  });
});

describe("refs", () => {
  const names = [
    "HEAD",
    "refs/heads",
    "refs/heads/../x",
    "refs/heads/.x",
    "refs/heads/x.lock",
    "refs/heads/a b",
    "refs/heads/a\nb",
    "/etc/passwd",
  ];
  names.push(
    "refs/heads/",
    "refs/heads/-x",
    "refs/heads/x\\y",
    "refs/heads/x~1",
    "refs/heads/x..y",
    "refs/heads/@{x",
    "config",
    `refs/heads/${"x".repeat(300)}`,
  );
  test.each(names)("a ref with the name %j is refused", async (ref) => {
    await expectRefused(goodPack, { ref, from: null, to: oid(good) }, "funny refname");
  });

  test("a ref with a bad target, a stale value or a conflicting name is refused, and so is one too many", async () => {
    await expectRefused(pack([content]), updateTo(content), "must point to a commit");
    await expectRefused(pack([content]), { ref: "refs/heads/x", from: null, to: "8".repeat(40) }, "missing necessary objects");
    await expectRefused(goodPack, { ref: "refs/heads/main", from: null, to: oid(good) }, "stale info");
    await expectRefused(goodPack, { ref: "refs/heads/main", from: oid(good), to: oid(good) }, "stale info");
    await expectRefused(goodPack, { ref: "refs/heads/main/sub", from: null, to: oid(good) }, "exists; cannot create");
    await expectRefused(goodPack, updateTo(good), "more than 1 refs", { refs: 1 });
  });
});

describe("requests", () => {
  async function post(
    service: string,
    body: Uint8Array,
    headers: Record<string, string> = {},
    repository = repositoryWithCommit(),
  ): Promise<string> {
    const request = {
      method: "POST",
      path: `/${service}`,
      query: new URLSearchParams(),
      headers: new Headers({ "content-type": `application/x-${service}-request`, ...headers }),
      body: toStream(body),
    };
    const answer = await serveGit(repository, request, { read: true, write: true, actor: "sam" });
    return new Response(answer.body).text();
  }
  const join = (...parts: (string | Uint8Array)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));

  const uploads: [string, Uint8Array, string][] = [
    ["no packet line", join("xxxx"), "not a packet line"],
    ["a length of three", join("0003"), "length of a packet line"],
    ["a length over the limit", join("ffff"), "length of a packet line"],
    ["a line that ends early", join("0032want"), "ends too early"],
    ["a want without a hash", join(pkt("want x\n")), "not supported"],
    ["a want that is not advertised", join(pkt(`want ${"9".repeat(40)}\n`), "0000", pkt("done\n")), "not our ref"],
    ["a filter", join(pkt("filter blob:none\n"), "0000"), "not supported"],
  ];
  test.each(uploads)("a fetch with %s is refused", async (_, body, why) => {
    expect(await post("git-upload-pack", body)).toContain(why);
  });

  const pushes: [string, Uint8Array, string][] = [
    ["no packet line", join("PACK"), "not a packet line"],
    ["a malformed command", join(pkt("hello"), "0000"), "not a command"],
    ["short hashes", join(pkt("123 456 refs/heads/x\0report-status"), "0000"), "not a command"],
    ["no pack", join(pkt(`${ZERO_OID} ${oid(good)} refs/heads/x\0report-status`), "0000"), "unpack The data ends too early"],
  ];
  test.each(pushes)("a push with %s is refused", async (_, body, why) => {
    expect(await post("git-receive-pack", body)).toContain(why);
  });

  test("gzip requests are accepted, and gzip bombs are refused", async () => {
    const repository = repositoryWithCommit();
    const body = join(pkt(`want ${repository.head()}\n`), "0000", pkt("done\n"));
    const gzip = { "content-encoding": "gzip" };
    expect(await post("git-upload-pack", gzipSync(body), gzip, repository)).toContain("PACK");
    expect(await post("git-upload-pack", gzipSync(Buffer.alloc(100_000_000, "0032want ")), gzip, repository)).toContain("ERR");
    const haves = Buffer.concat(Array.from({ length: 200_000 }, () => Buffer.from(pkt(`have ${"a".repeat(40)}\n`))));
    expect(await post("git-upload-pack", gzipSync(join(pkt(`want ${repository.head()}\n`), "0000", haves)), gzip, repository)).toContain(
      "Request too large",
    );
    expect(await post("git-upload-pack", Buffer.from("nonsense"), gzip, repository)).toContain("gzip data is damaged");
    expect(await post("git-upload-pack", body, { "content-encoding": "br" }, repository)).toContain("Unsupported content encoding");
    const push = join(pkt(`${ZERO_OID} ${oid(good)} refs/heads/zipped\0report-status`), "0000", goodPack);
    expect(await post("git-receive-pack", gzipSync(push), gzip, repository)).toContain("ok refs/heads/zipped");
  });
});
