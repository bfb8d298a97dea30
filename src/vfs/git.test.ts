// Homes and workspaces in git, with real repositories: each change is one commit with a message, directories behave as on Linux,
// and a user whom the tree refuses cannot reach git either.

import { createHash, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { MemoryBlobs } from "../../test/support/memory/blobs.ts";
import { MemoryGit } from "../../test/support/memory/git-files.ts";
import { MemorySql } from "../../test/support/memory/sql.ts";
import { FileError, NATIVE_LIMITS } from "../hardware/filesystem.ts";
import { readFile } from "../hardware/read.ts";
import { searchFiles } from "../hardware/search.ts";
import { editFile } from "../hardware/edit.ts";
import { FileContents } from "../kernel/files/file-contents.ts";
import { Files } from "../kernel/nouns/files.ts";
import { migrate } from "../kernel/schema/migrate.ts";
import { makeHomeMount } from "./home.ts";
import type { Who } from "./mount.ts";
import { makeTreeMount } from "./tree.ts";
import { Vfs } from "./vfs.ts";
import { makeWorkspacesMount } from "./workspaces.ts";
import { Usage } from "../kernel/nouns/usage.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (content: Uint8Array) => new TextDecoder().decode(content);
const outcomeOf = (work: Promise<unknown>) => work.then(String, (error: FileError) => error.code);

const USERS = [
  { username: "root", uid: 0, gid: 0, home: "/root" },
  { username: "alice", uid: 1000, gid: 1000, home: "/home/alice" },
  { username: "bob", uid: 1001, gid: 1001, home: "/home/bob" },
];
const WORKSPACES = [
  { workspaceId: "ws_1", owner: "alice", ownerUid: 1000, archived: false },
  { workspaceId: "ws_old", owner: "alice", ownerUid: 1000, archived: true },
  { workspaceId: "ws_bob", owner: "bob", ownerUid: 1001, archived: false },
];

function makeTree() {
  const sql = new MemorySql();
  migrate(sql);
  const files = new Files(sql, new Usage(sql));
  for (const user of USERS) if (user.uid > 0) files.makeHome(user, 1);
  sql.commit();
  const tree = makeTreeMount({
    reads: files,
    transact: async (body) => {
      const value = sql.transaction(() => body(files));
      sql.commit();
      return value;
    },
    contents: new FileContents(
      new MemoryBlobs(),
      () => true,
      async () => {},
    ),
    mustHaveRoom: () => {},
    uploads: { set: () => {}, drop: () => {}, listByUser: () => [] },
    sha256: (content) => createHash("sha256").update(content).digest(),
    sha256Async: async (content) => createHash("sha256").update(content).digest(),
    now: () => 1,
    uuid: randomUUID,
    inlineBytesMax: 1024,
  });
  const git = new MemoryGit();
  const mounts = [
    makeHomeMount({ tree, git, ownerOf: (home) => USERS.find((user) => user.home === home) }),
    makeWorkspacesMount({
      git,
      workspaces: (who) => WORKSPACES.filter(({ ownerUid }) => who.uid === 0 || who.uid === ownerUid),
      find: (id) => WORKSPACES.find(({ workspaceId }) => workspaceId === id),
    }),
  ];
  const as = (name: string) => {
    const { uid, gid, username, home } = USERS.find((user) => user.username === name)!;
    const who: Who = {
      uid,
      gid,
      gids: [gid, 100],
      username,
      home,
      cwd: home,
      runSyscall: () => Promise.reject(new Error("no")),
      checkStillAllowed() {},
    };
    return new Vfs(mounts, who);
  };
  return { git, files, root: as("root"), alice: as("alice"), bob: as("bob") };
}

const machine = (files: Vfs) => ({ files, limits: NATIVE_LIMITS, now: () => 0, signal: new AbortController().signal });
const names = async (files: Vfs, path: string) => (await files.list(path)).map(({ name }) => name).toSorted();

describe("the part of a home that is kept in git", () => {
  it("gets one commit per change, with a message and an author", async () => {
    const { alice, root, git } = makeTree();
    await alice.write("/home/alice/context.d/10-user.md", bytes("hello\n"));
    await alice.append("/home/alice/context.d/10-user.md", bytes("more\n"));
    await alice.makeDirectory("/home/alice/knowledge");
    await alice.makeDirectory("/home/alice/knowledge/inbox");
    await alice.rename("/home/alice/context.d/10-user.md", "/home/alice/knowledge/inbox/user.md");
    await root.remove("/home/alice/knowledge/inbox/user.md");
    expect(git.messages("alice/home")).toEqual([
      "root: gsv: rm knowledge/inbox/user.md",
      "alice: gsv: mv context.d/10-user.md knowledge/inbox/user.md",
      "alice: gsv: mkdir knowledge/inbox",
      "alice: gsv: mkdir knowledge",
      "alice: gsv: append context.d/10-user.md",
      "alice: gsv: write context.d/10-user.md",
    ]);
    // As on Linux, a directory remains when its last file is gone.
    expect(await names(alice, "/home/alice")).toEqual(["context.d", "knowledge"]);
    expect(await names(alice, "/home/alice/context.d")).toEqual([]);
    expect(await names(alice, "/home/alice/knowledge/inbox")).toEqual([]);
    expect(await outcomeOf(alice.stat("/home/alice/context.d/.dir"))).toBe("ENOENT");
    expect(await outcomeOf(alice.write("/home/alice/context.d/.dir", bytes("x")))).toBe("EPERM");
  });

  it("has modes and an owner that cannot be changed", async () => {
    const { alice, root } = makeTree();
    await root.write("/home/alice/CONSTITUTION.md", bytes("be kind"));
    expect(await alice.stat("/home/alice/CONSTITUTION.md")).toMatchObject({ kind: "file", size: 7, mode: 0o644, uid: 1000, gid: 1000 });
    await alice.write("/home/alice/skills.d/a/SKILL.md", bytes("x"));
    expect(await alice.stat("/home/alice/skills.d/a")).toMatchObject({ kind: "directory", mode: 0o755, uid: 1000, version: "" });
    expect(await outcomeOf(alice.setMode("/home/alice/CONSTITUTION.md", 0o600))).toBe("EPERM");
    expect(await outcomeOf(root.setOwner("/home/alice/CONSTITUTION.md", 1001, null))).toBe("EPERM");
    await alice.setMode("/home/alice/CONSTITUTION.md", 0o644);
    await alice.setModified("/home/alice/CONSTITUTION.md", 5);
  });

  it("is listed beside files of the tree, and nothing can be moved between the two", async () => {
    const { alice, git } = makeTree();
    await alice.write("/home/alice/notes.md", bytes("tree"));
    await alice.write("/home/alice/context.d/a", bytes("git"));
    expect(await names(alice, "/home/alice")).toEqual(["context.d", "notes.md"]);
    expect(await outcomeOf(alice.rename("/home/alice/notes.md", "/home/alice/context.d/b"))).toBe("EXDEV");
    expect(await outcomeOf(alice.rename("/home/alice/context.d/a", "/home/alice/a"))).toBe("EXDEV");
    expect(await outcomeOf(alice.rename("/home/alice/context.d", "/tmp/context.d"))).toBe("EXDEV");
    expect(git.messages("alice/home")).toHaveLength(1);
    // These names are special only directly below a home.
    await alice.write("/tmp/context.d/x", bytes("tree"));
    await alice.write("/home/alice/sub/context.d/x", bytes("tree"));
    expect(git.messages("alice/home")).toHaveLength(1);
  });

  it("is hidden by an existing directory of the tree with the same name until that is moved away", async () => {
    const { alice, git, files } = makeTree();
    await alice.write("/home/alice/old/a.md", bytes("from before"));
    await alice.write("/home/alice/knowledge/b.md", bytes("in git"));
    files.move("/home/alice/old", "/home/alice/knowledge", "/home/alice");
    expect(await names(alice, "/home/alice")).toEqual(["knowledge"]);
    expect(text(await alice.read("/home/alice/knowledge/a.md"))).toBe("from before");
    await alice.write("/home/alice/knowledge/c.md", bytes("beside it"));
    expect(git.messages("alice/home")).toHaveLength(1);
    expect(await searchFiles(machine(alice), { query: "before" })).toMatchObject({ count: 1 });
    await alice.rename("/home/alice/knowledge", "/home/alice/old");
    expect(await names(alice, "/home/alice/old")).toEqual(["a.md", "c.md"]);
    expect(await names(alice, "/home/alice/knowledge")).toEqual(["b.md"]);
  });

  it("is reachable for root in any home, and refused without a call to git to users who may not enter the home", async () => {
    const { alice, bob, root, git } = makeTree();
    await alice.write("/home/alice/context.d/a", bytes("mine"));
    expect(text(await root.read("/home/alice/context.d/a"))).toBe("mine");
    await root.write("/root/context.d/r", bytes("root's"));
    expect(git.messages("root/home")).toEqual(["root: gsv: write context.d/r"]);
    const before = git.calls;
    const path = "/home/alice/context.d/a";
    const attempts = [
      bob.stat(path),
      bob.read(path),
      bob.list("/home/alice/context.d"),
      bob.write(path, bytes("x")),
      bob.append(path, bytes("x")),
      bob.remove(path),
      bob.makeDirectory("/home/alice/context.d/d"),
      bob.rename(path, "/home/alice/context.d/b"),
      bob.setMode(path, 0o600),
      bob.stat("/home/alice/context.d/absent"),
      bob.list("/home/alice"),
      alice.read("/root/context.d/r"),
    ];
    for (const one of attempts) expect(await outcomeOf(one)).toBe("EACCES");
    expect(git.calls).toBe(before);
    // If the home's mode lets others in, they can read its files but not change them.
    await alice.setMode("/home/alice", 0o755);
    expect(text(await bob.read(path))).toBe("mine");
    expect(await outcomeOf(bob.write(path, bytes("x")))).toBe("EACCES");
    expect(await outcomeOf(bob.remove(path))).toBe("EACCES");
  });

  it("fails with the same errors as Linux", async () => {
    const { alice } = makeTree();
    const at = (rel: string) => `/home/alice/knowledge/${rel}`;
    await alice.write(at("dir/x"), bytes("x"));
    await alice.write(at("full/y"), bytes("y"));
    await alice.write(at("file"), bytes("z"));
    await alice.makeDirectory(at("empty"));
    const cases: [Promise<unknown>, string][] = [
      [alice.read(at("none")), "ENOENT"],
      [alice.read(at("dir")), "EISDIR"],
      [alice.list(at("file")), "ENOTDIR"],
      [alice.list(at("none")), "ENOENT"],
      [alice.write(at("dir"), bytes("")), "EISDIR"],
      [alice.write(at("file/below"), bytes("")), "ENOTDIR"],
      [alice.append(at("dir"), bytes("")), "EISDIR"],
      [alice.makeDirectory(at("dir")), "EEXIST"],
      [alice.makeDirectory(at("none/deep")), "ENOENT"],
      [alice.makeDirectory(at("file/deep")), "ENOTDIR"],
      [alice.remove(at("none")), "ENOENT"],
      [alice.rename(at("none"), at("b")), "ENOENT"],
      [alice.rename(at("file"), at("none/b")), "ENOENT"],
      [alice.rename(at("file"), at("dir")), "EISDIR"],
      [alice.rename(at("dir"), at("file")), "ENOTDIR"],
      [alice.rename(at("dir"), at("full")), "ENOTEMPTY"],
      [alice.rename(at("dir"), at("dir/into")), "EINVAL"],
      [alice.write(at(".git/config"), bytes("")), "EINVAL"],
    ];
    for (const [work, expected] of cases) expect(await outcomeOf(work), expected).toBe(expected);
    await alice.rename(at("dir"), at("empty"));
    await alice.rename(at("file"), at("full/y"));
    expect(await names(alice, at("empty"))).toEqual(["x"]);
    expect(text(await alice.read(at("full/y")))).toBe("z");
    expect(await names(alice, "/home/alice/knowledge")).toEqual(["empty", "full"]);
  });

  it("replaces only the given version, and loses no append when many run at once", async () => {
    const { alice } = makeTree();
    const path = "/home/alice/context.d/log";
    await alice.write(path, bytes("one\n"));
    const { version } = await alice.stat(path);
    await alice.write(path, bytes("two\n"), { ifVersion: version });
    expect(await outcomeOf(alice.write(path, bytes("three\n"), { ifVersion: version }))).toBe("ESTALE");
    expect(await editFile(machine(alice), { path, oldString: "two", newString: "2" })).toMatchObject({ ok: true });
    await Promise.all(Array.from({ length: 30 }, (_, at) => alice.append(path, bytes(`${at}\n`))));
    expect(
      text(await alice.read(path))
        .trim()
        .split("\n"),
    ).toHaveLength(31);
  });

  it("reports a link as neither file nor directory, and does not follow it", async () => {
    const { alice, git } = makeTree();
    git.plantLink("alice/home", "skills.d", "/etc/shadow");
    expect(await alice.stat("/home/alice/skills.d")).toMatchObject({ kind: "other" });
    expect(await readFile(machine(alice), { path: "/home/alice/skills.d" })).toMatchObject({ ok: false });
    expect(await outcomeOf(alice.write("/home/alice/skills.d", bytes("x")))).toBe("EPERM");
    expect(await outcomeOf(alice.write("/home/alice/skills.d/x", bytes("x")))).toBe("ENOTDIR");
  });

  it("is searched with few requests", async () => {
    const { alice, bob, git } = makeTree();
    for (let at = 0; at < 100; at++) await alice.write(`/home/alice/knowledge/${at % 10}/${at}.md`, bytes(`line\nneedle ${at}\n`));
    const before = git.calls;
    const found = await searchFiles(machine(alice), { query: "needle 4", path: "/home/alice" });
    expect(found).toMatchObject({ ok: true, count: 11 });
    // One request for each directory, the home and the root, and one for each batch of files.
    expect(git.calls - before).toBeLessThan(20);
    await alice.write("/home/alice/beside", bytes("needle 4 in the tree"));
    Object.assign(git, { heads: undefined });
    expect(await searchFiles(machine(alice), { query: "needle 4", path: "/home/alice" })).toMatchObject({ ok: true, count: 12 });
    expect(await searchFiles(machine(bob), { query: "needle 4", path: "/home" })).toMatchObject({ ok: true, count: 0 });
  });
});

describe("/workspaces", () => {
  it("lists the caller's workspaces, and everybody's for root", async () => {
    const { alice, bob, root } = makeTree();
    expect(await names(alice, "/workspaces")).toEqual(["ws_1", "ws_old"]);
    expect(await names(bob, "/workspaces")).toEqual(["ws_bob"]);
    expect(await names(root, "/workspaces")).toHaveLength(3);
    expect(await names(root, "/")).toContain("workspaces");
  });

  it("makes one commit per change, for the owner and root", async () => {
    const { alice, root, git } = makeTree();
    await alice.write("/workspaces/ws_1/src/a.ts", bytes("let a"));
    await root.append("/workspaces/ws_1/src/a.ts", bytes(" = 1"));
    expect(text(await alice.read("/workspaces/ws_1/src/a.ts"))).toBe("let a = 1");
    expect(git.messages("alice/ws_1")).toEqual(["root: gsv: append src/a.ts", "alice: gsv: write src/a.ts"]);
    expect(await alice.stat("/workspaces/ws_1")).toMatchObject({ kind: "directory", uid: 1000, mode: 0o755 });
  });

  it("answers for another user's workspace as for a missing one", async () => {
    const { bob } = makeTree();
    for (const id of ["ws_1", "ws_none"]) {
      const path = `/workspaces/${id}/a`;
      expect(await outcomeOf(bob.stat(path))).toBe("ENOENT");
      expect(await outcomeOf(bob.list(`/workspaces/${id}`))).toBe("ENOENT");
      expect(await outcomeOf(bob.write(path, bytes("x")))).toBe("ENOENT");
      expect(await outcomeOf(bob.remove(`/workspaces/${id}`))).toBe("ENOENT");
      expect(await outcomeOf(bob.makeDirectory(`/workspaces/${id}`))).toBe("EPERM");
      expect(await outcomeOf(bob.rename(path, "/workspaces/ws_bob/a"))).toBe("ENOENT");
    }
  });

  it("refuses changes to an archived workspace, and to create, remove or rename one as a directory", async () => {
    const { alice } = makeTree();
    await expect(alice.write("/workspaces/ws_old/a", bytes("x"))).rejects.toMatchObject({
      code: "EPERM",
      detail: expect.stringContaining("activate it again") as unknown,
    });
    await expect(alice.makeDirectory("/workspaces/mine")).rejects.toMatchObject({
      code: "EPERM",
      detail: expect.stringContaining("sys.workspace.create") as unknown,
    });
    expect(await names(alice, "/workspaces/ws_old")).toEqual([]);
    for (const path of ["/workspaces", "/workspaces/ws_1"]) expect(await outcomeOf(alice.remove(path))).toBe("EPERM");
    expect(await outcomeOf(alice.rename("/workspaces/ws_1", "/workspaces/ws_2"))).toBe("EPERM");
    await alice.write("/workspaces/ws_1/a", bytes("x"));
    expect(await outcomeOf(alice.rename("/workspaces/ws_1/a", "/workspaces/ws_old/a"))).toBe("EXDEV");
    expect(await outcomeOf(alice.rename("/workspaces/ws_1/a", "/home/alice/a"))).toBe("EXDEV");
  });
});
