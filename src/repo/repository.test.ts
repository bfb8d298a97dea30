// The operations of a repository, compared with the shapes in the spec and with the hashes of stock git.

import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { NodeSql } from "../hosts/node/sql.ts";
import { nameFault } from "./names.ts";
import { isRefName } from "./ref-names.ts";
import { Repository } from "./repository.ts";
import { Sha1 } from "./sha1.ts";
import { deflate, inflate, Inflater } from "./zlib.ts";

const sam = { name: "sam", email: "sam@gsv.local" };
const now = 1_700_000_000_000;

function newRepository(): Repository {
  return new Repository(new NodeSql(":memory:", () => {}));
}

function put(repository: Repository, files: Record<string, string>, message = "put"): string {
  const ops = Object.entries(files).map(([path, content]) => ({ type: "put" as const, path, content }));
  return repository.apply({ message, ops, author: sam, now }).head!;
}

describe("bytes", () => {
  test("sha-1 equals Node's at every length around a block, in one piece or many", () => {
    for (const length of [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 100_000]) {
      const bytes = new Uint8Array(randomBytes(length));
      const sha = new Sha1();
      for (let at = 0; at < length; at += 37) sha.update(bytes.subarray(at, at + 37));
      expect(Buffer.from(sha.digest()).toString("hex")).toBe(createHash("sha1").update(bytes).digest("hex"));
    }
  });

  test("zlib is compatible with Node's in both directions, and the shared compressor keeps no state between uses", () => {
    for (let round = 0; round < 60; round++) {
      const bytes = new Uint8Array(
        Buffer.from(round % 3 === 0 ? randomBytes(round * 997) : Buffer.from("lorem ipsum ".repeat(round * 50))),
      );
      expect(Buffer.compare(inflateSync(deflate(bytes)), bytes)).toBe(0);
      const packed = new Uint8Array(deflateSync(bytes));
      const parts = [];
      for (let at = 0; at < packed.length; at += 1000) parts.push(packed.subarray(at, at + 1000));
      expect(Buffer.compare(inflate(parts, bytes.length), bytes)).toBe(0);
    }
  });

  test("an inflater stops at the end of the stream and refuses a wrong size", () => {
    const packed = new Uint8Array([...deflateSync(Buffer.from("hello")), 1, 2, 3]);
    const inflater = new Inflater(5);
    expect(inflater.push(packed)).toEqual({ used: packed.length - 3, done: true });
    expect(() => new Inflater(4).push(packed)).toThrow("more than its stated size");
    expect(() => new Inflater(6).push(packed)).toThrow("less than its stated size");
  });
});

describe("create and apply", () => {
  test("create writes an empty first commit only once", () => {
    const repository = newRepository();
    const made = repository.create("sam/notes", sam, now);
    expect(made).toEqual({ ref: "main", head: expect.stringMatching(/^[0-9a-f]{40}$/), created: true });
    expect(repository.create("sam/notes", sam, now + 1)).toEqual({ ...made, created: false });
    expect(repository.log().entries).toMatchObject([
      { message: "repo: create sam/notes", parents: [], author: "sam", authorTime: now / 1000 },
    ]);
    expect(repository.read()).toEqual({ ref: "main", path: "", kind: "tree", entries: [] });
    expect(repository.refs()).toEqual({ heads: { main: made.head }, tags: {} });
  });

  test("put, move and delete make one commit, and the same request makes the same commit", () => {
    const run = () => {
      const repository = newRepository();
      put(repository, { "a.txt": "a", "dir/b.txt": "b", "dir/c.txt": "c" });
      const ops = [
        { type: "move", from: "dir/b.txt", to: "new/deep/b.txt" },
        { type: "delete", path: "a.txt" },
        { type: "put", path: "dir/c.txt", content: "changed" },
        { type: "put", path: "bin", contentBase64: "AAECAw==" },
      ] as const;
      return { repository, applied: repository.apply({ message: "second", ops, author: sam, now }) };
    };
    const { repository, applied } = run();
    expect(run().applied).toEqual(applied);
    expect(repository.log().entries.map((entry) => entry.message)).toEqual(["second", "put"]);
    expect(repository.read("main")).toMatchObject({
      entries: [{ name: "bin" }, { name: "dir", mode: "040000", type: "tree" }, { name: "new" }],
    });
    expect(repository.read("main", "new//./deep/b.txt")).toEqual({
      ref: "main",
      path: "new/deep/b.txt",
      kind: "file",
      size: 1,
      isBinary: false,
      content: "b",
    });
    expect(repository.read("main", "bin")).toMatchObject({ size: 4, isBinary: true, content: null });
    expect([...repository.readBytes("main", "bin")]).toEqual([0, 1, 2, 3]);
  });

  test("a conflict reports both heads and changes nothing", () => {
    const repository = newRepository();
    const first = put(repository, { a: "1" });
    const second = put(repository, { a: "2" });
    const late = () =>
      repository.apply({ message: "late", expectedHead: first, ops: [{ type: "put", path: "a", content: "3" }], author: sam, now });
    expect(late).toThrow(`Conflict on main: expected head ${first}, found ${second}`);
    expect(repository.head()).toBe(second);
    expect(() => repository.apply({ ref: "other", message: "x", expectedHead: first, ops: [], author: sam, now })).toThrow("found none");
    expect(
      repository.apply({ ref: "other", message: "x", expectedHead: null, allowEmpty: true, ops: [], author: sam, now }).head,
    ).not.toBeNull();
  });

  test("a failing operation undoes the ones before it, objects included", () => {
    const repository = newRepository();
    const head = put(repository, { "dir/a": "1", b: "2" });
    const count = repository.store.objects.count();
    const refusals: [Parameters<Repository["apply"]>[0]["ops"][number], string][] = [
      [{ type: "delete", path: "none" }, "Path not found: none"],
      [{ type: "delete", path: "dir" }, "Directory not empty: dir"],
      [{ type: "move", from: "b", to: "dir/a" }, "Path already exists: dir/a"],
      [{ type: "move", from: "dir", to: "dir/inner" }, "into itself"],
      [{ type: "move", from: "b", to: "b" }, "Path already exists: b"],
      [{ type: "move", from: "none", to: "c" }, "Path not found: none"],
      [{ type: "put", path: "b/c", content: "" }, "Not a directory: b"],
      [{ type: "put", path: "dir", content: "" }, "Is a directory: dir"],
      [{ type: "put", path: "", content: "" }, "names the root"],
      [{ type: "put", path: "x" }, "No content"],
      [{ type: "put", path: "x", content: "", contentBase64: "" }, "cannot specify both content and contentBase64"],
      [{ type: "put", path: "x", contentBase64: "*" }, "not base64"],
    ];
    for (const [op, message] of refusals) {
      const ops = [{ type: "put" as const, path: "fine", content: message }, op];
      expect(() => repository.apply({ message: "m", ops, author: sam, now })).toThrow(message);
    }
    expect(() => repository.apply({ message: " ", ops: [], author: sam, now })).toThrow("message");
    expect(repository.head()).toBe(head);
    expect(repository.store.objects.count()).toBe(count);
  });

  test("a request without changes makes no commit unless allowEmpty is set", () => {
    const repository = newRepository();
    expect(repository.apply({ message: "m", ops: [], author: sam, now })).toEqual({ ref: "main", head: null, changed: false });
    const head = put(repository, { a: "1" });
    expect(repository.apply({ message: "m", ops: [], author: sam, now }).head).toBe(head);
    expect(put(repository, { a: "1" })).toBe(head);
    expect(repository.apply({ message: "m", ops: [], allowEmpty: true, author: sam, now }).head).not.toBe(head);
  });

  test("an emptied directory is gone, even for the next operation of the same commit", () => {
    const repository = newRepository();
    put(repository, { "d/e/f": "1", "d/e/g": "2", keep: "" });
    const ops = [
      { type: "delete", path: "d/e/f" },
      { type: "delete", path: "d/e/g" },
      { type: "put", path: "d", content: "now a file" },
    ] as const;
    repository.apply({ message: "m", ops, author: sam, now });
    expect(repository.read("main", "d")).toMatchObject({ kind: "file", content: "now a file" });
    repository.apply({
      message: "m",
      ops: [
        { type: "delete", path: "d" },
        { type: "delete", path: "keep" },
      ],
      author: sam,
      now,
    });
    expect(repository.read("main")).toMatchObject({ entries: [] });
  });

  test("a file larger than one chunk is stored and read back", () => {
    const repository = newRepository();
    const bytes = new Uint8Array(randomBytes(5_000_000));
    repository.apply({ message: "big", ops: [{ type: "put", path: "big", bytes }], author: sam, now });
    expect(Buffer.compare(repository.readBytes("main", "big"), bytes)).toBe(0);
    expect(repository.lookup("main", "big")).toMatchObject({ size: 5_000_000, type: "blob" });
  });
});

describe("hashes equal git's", () => {
  test("a tree whose entries git does not sort alphabetically has git's hash", () => {
    const repository = newRepository();
    const files = { "foo/x": "1", "foo.txt": "2", "foo-bar": "3", foo0: "4", ä: "5", "😀": "6", "\ufb01": "7" };
    put(repository, files);
    const tree = repository.log().entries[0]!.treeHash;
    const dir = mkdtempSync(join(tmpdir(), "gsv-tree-"));
    mkdirSync(join(dir, "foo"));
    for (const [path, content] of Object.entries(files)) writeFileSync(join(dir, path), content);
    execFileSync("git", ["init", "-q", dir]);
    execFileSync("git", ["-C", dir, "add", "-A"]);
    const expected = execFileSync("git", ["-C", dir, "write-tree"], { encoding: "utf8" }).trim();
    rmSync(dir, { recursive: true });
    expect(tree).toBe(expected);
    expect(repository.read("main")).toMatchObject({ kind: "tree" });
    const names = repository.read("main") as { entries: { name: string }[] };
    expect(names.entries.map(({ name }) => name)).toEqual(names.entries.map(({ name }) => name).toSorted());
  });
});

describe("refs", () => {
  test("a ref is found by branch, tag, full name, hash and abbreviated hash", () => {
    const repository = newRepository();
    const head = put(repository, { a: "1" });
    repository.store.refs.move("refs/tags/v1", null, head);
    for (const ref of ["main", "refs/heads/main", "HEAD", "v1", "refs/tags/v1", "tags/v1", head, head.slice(0, 8)])
      expect(repository.log(ref).entries[0]!.hash).toBe(head);
    expect(repository.refs()).toEqual({ heads: { main: head }, tags: { v1: head } });
    expect(() => repository.log("none")).toThrow("Ref not found: none");
    expect(() => repository.read("a..b")).toThrow("Invalid ref");
    expect(() => repository.read("main", "../x")).toThrow("Invalid path");
    expect(() => repository.read("main", "nope")).toThrow("Path not found: nope");
    expect(() => repository.log(repository.log().entries[0]!.treeHash)).toThrow("does not lead to a commit");
  });

  test("a move fails if the ref does not point where the caller expects", () => {
    const { store } = newRepository();
    const oid = store.objects.write("blob", new Uint8Array(1));
    expect(store.refs.move("refs/heads/main", null, oid)).toBe("a branch must point to a commit");
    expect(store.refs.move("refs/tags/x", null, "1".repeat(40))).toBe("missing necessary objects");
    expect(store.refs.move("refs/tags/x", null, oid)).toBeUndefined();
    expect(store.refs.move("refs/tags/x", null, oid)).toBe("stale info");
    expect(store.refs.move("refs/tags/x/y", null, oid)).toContain("exists; cannot create");
    expect(store.refs.move("refs/tags/x", oid, null)).toBeUndefined();
    expect(store.refs.move("refs/tags/x/y", null, oid)).toBeUndefined();
    expect(store.refs.move("refs/tags/x", null, oid)).toContain("exists; cannot create");
  });

  test("ref names are valid exactly when git check-ref-format accepts them", () => {
    const names = [
      "refs/heads/a",
      "refs/heads/a/b",
      "refs/heads/.a",
      "refs/heads/a.lock",
      "refs/heads/a..b",
      "refs/heads/a/",
      "refs/heads//a",
    ];
    for (const bad of ["a.", "a@{b", "a\\b", "a b", "a~b", "a^", "a:b", "a?", "a*", "a[", "@", "a\x7f", "a\x01", "a.lock/b", "a/.b"])
      names.push(`refs/heads/${bad}`);
    for (const name of names) {
      let isValid = true;
      try {
        execFileSync("git", ["check-ref-format", name]);
      } catch {
        isValid = false;
      }
      // One case is stricter than git: a branch called @ would be read as HEAD.
      expect(isRefName(name), name).toBe(isValid && name !== "refs/heads/@");
    }
    for (const ref of ["../x", "a..b", "-x", "HEAD", "a b", "", "refs/heads/", "a.lock", "/a", "a/", "@{1}", "x\n"])
      expect(() => newRepository().apply({ ref, message: "m", ops: [], allowEmpty: true, author: sam, now }), ref).toThrow("Invalid ref");
  });
});

test("hostile names are refused, including the forms that other file systems treat as equal", () => {
  const hostile = [".git", ".GIT", ".Git", ".git ", ".git.", ".git...", ".git . ", "git~1", "GIT~1", "git~2", ".git::$INDEX_ALLOCATION"];
  hostile.push(".git:x", ".g\u200cit", "\ufeff.git", ".gi\u200dt\u202e", "..", ".", "", "a\0b", "a\nb", "a\rb", "a/b", "C:", "c:evil");
  hostile.push("a\\..\\b", "..\\x", ".git\\config", "x\\.git", "\\\\server", "\\x", "x".repeat(256), "é".repeat(128), "git~1 ", "git~1.");
  for (const name of hostile) expect(nameFault(name), JSON.stringify(name)).toBeDefined();
  for (const name of [
    "git",
    ".gitignore",
    ".github",
    ".gitmodules",
    "git~",
    "a\\b",
    "...",
    "..a",
    ".git-x",
    "x".repeat(255),
    "ä",
    "AB:c",
    "con",
  ])
    expect(nameFault(name), name).toBeUndefined();
  for (const path of [".git/config", "a/.GIT/x", "a/../b", "a\0b", "x/git~1/y", "C:/x", "a".repeat(5000), "a\nb"])
    expect(() => put(newRepository(), { [path]: "" }), path).toThrow("Invalid path");
});

describe("log", () => {
  test("every page of a log holds the right commits", () => {
    const repository = newRepository();
    const heads: string[] = [];
    for (let i = 0; i < 300; i++) heads.unshift(put(repository, { n: String(i) }, `commit ${i}`));
    for (const [limit, offset] of [
      [30, 0],
      [1, 299],
      [100, 250],
      [7, 123],
      [5, 300],
      [500, 0],
      [0, 4],
      [3, -5],
    ] as const) {
      const page = repository.log("main", limit, offset);
      const rows = Math.min(100, Math.max(1, limit));
      expect(page).toMatchObject({ ref: "main", limit: rows, offset: Math.max(0, offset) });
      expect(page.entries.map((entry) => entry.hash)).toEqual(heads.slice(Math.max(0, offset), Math.max(0, offset) + rows));
    }
  });
});

describe("diff and compare", () => {
  test("hunks have context and are counted as in a patch", async () => {
    const repository = newRepository();
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);
    const base = put(repository, { f: `${lines.join("\n")}\n`, gone: "x\ny\n", same: "s" });
    lines[9] = "ten";
    lines.splice(29, 0, "inserted");
    repository.apply({
      message: "m",
      ops: [
        { type: "put", path: "f", content: `${lines.join("\n")}\n` },
        { type: "delete", path: "gone" },
        { type: "put", path: "new", content: "n" },
        { type: "put", path: "bin", contentBase64: "AAE=" },
      ],
      author: sam,
      now,
    });
    const diff = await repository.diff("main", 1);
    expect(diff).toMatchObject({ parentHash: base, stats: { filesChanged: 4, additions: 3, deletions: 3 } });
    expect(diff.files.map(({ path, status }) => [path, status])).toEqual([
      ["bin", "added"],
      ["f", "modified"],
      ["gone", "deleted"],
      ["new", "added"],
    ]);
    expect(diff.files[0]!.hunks).toEqual([
      { oldStart: 0, oldCount: 0, newStart: 0, newCount: 0, lines: [{ tag: "binary", content: "Binary files differ" }] },
    ]);
    expect(diff.files[1]!.hunks).toEqual([
      {
        oldStart: 9,
        oldCount: 3,
        newStart: 9,
        newCount: 3,
        lines: [
          { tag: "context", content: "line 9" },
          { tag: "delete", content: "line 10" },
          { tag: "add", content: "ten" },
          { tag: "context", content: "line 11" },
        ],
      },
      {
        oldStart: 29,
        oldCount: 2,
        newStart: 29,
        newCount: 3,
        lines: [
          { tag: "context", content: "line 29" },
          { tag: "add", content: "inserted" },
          { tag: "context", content: "line 30" },
        ],
      },
    ]);
    expect(diff.files[3]!.hunks).toEqual([{ oldStart: 0, oldCount: 0, newStart: 1, newCount: 1, lines: [{ tag: "add", content: "n" }] }]);
    const stat = await repository.compare(base, "main", 3, true);
    expect(stat).toMatchObject({ base, head: "main", stats: diff.stats });
    expect(stat.files.every((file) => file.hunks === undefined)).toBe(true);
    expect((await repository.compare("main", base)).stats).toEqual({ filesChanged: 4, additions: 3, deletions: 3 });
    expect((await repository.diff(base)).parentHash).toBeNull();
    expect(await repository.compare(base, base)).toMatchObject({ files: [], stats: { filesChanged: 0, additions: 0, deletions: 0 } });
  });

  test("a diff of texts with nothing in common ends in time", async () => {
    const repository = newRepository();
    const text = (seed: string) => Array.from({ length: 60_000 }, (_, i) => `${seed} ${i * 7919}`).join("\n");
    put(repository, { f: text("a") });
    put(repository, { f: text("b") });
    const started = performance.now();
    const diff = await repository.diff("main");
    expect(diff.stats).toEqual({ filesChanged: 1, additions: 60_000, deletions: 60_000 });
    expect(performance.now() - started).toBeLessThan(60_000);
  });
});

describe("search", () => {
  test("search is literal and case-sensitive, at a ref, under a prefix, up to 500 matches, and skips secrets", async () => {
    const repository = newRepository();
    const first = put(repository, { "a.txt": "one\ntwo needle needle\r\nNeedle\n", "dir/b.txt": "needle", "dirt.txt": "needle (1)\n" });
    put(repository, { "a.txt": "nothing", bin: "\0needle", many: "needle\n".repeat(600) });
    expect(await repository.search(first, "needle")).toEqual({
      ref: first,
      query: "needle",
      matches: [
        { path: "a.txt", line: 2, content: "two needle needle" },
        { path: "dir/b.txt", line: 1, content: "needle" },
        { path: "dirt.txt", line: 1, content: "needle (1)" },
      ],
    });
    expect((await repository.search("main", "needle", "dir/")).matches.map((match) => match.path)).toEqual(["dir/b.txt"]);
    expect((await repository.search("main", "needle", "dir")).matches.map((match) => match.path)).toEqual(["dir/b.txt", "dirt.txt"]);
    expect(await repository.search("main", "e (", "dir")).toMatchObject({ prefix: "dir", matches: [{ path: "dirt.txt" }] });
    put(repository, { "deploy/.env": "needle", "deploy/.env.example": "needle", ".ssh/config": "needle" });
    const matchedPaths = async (prefix?: string) => (await repository.search("main", "needle", prefix)).matches.map(({ path }) => path);
    expect((await matchedPaths()).filter((path) => path.startsWith("."))).toEqual([]);
    expect(await matchedPaths("deploy")).toEqual(["deploy/.env.example"]);
    expect(await matchedPaths("deploy/.env")).toEqual(["deploy/.env", "deploy/.env.example"]);
    expect(await matchedPaths(".ssh/")).toEqual([".ssh/config"]);
    const many = await repository.search("main", "needle", "many");
    expect(many.truncated).toBe(true);
    expect(many.matches).toHaveLength(500);
    await expect(repository.search("main", "")).rejects.toThrow("query");
  });
});
