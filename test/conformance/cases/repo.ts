// repo.* and sys.workspace.*

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { expectRefusal, refusal, verifies, type World } from "../verifies.ts";

let made = 0;
const newName = (owner: string, prefix = "repo") => `${owner}/${prefix}-${made++}`;
const HASH = /^[0-9a-f]{40}$/;

async function fresh(client: Client, files: Record<string, string> = {}, prefix?: string): Promise<string> {
  const repo = newName("alice", prefix);
  await client.call("repo.create", { repo });
  if (Object.keys(files).length > 0) await put(client, repo, files);
  return repo;
}

async function put(client: Client, repo: string, files: Record<string, string>, more: object = {}): Promise<string> {
  const ops = Object.entries(files).map(([path, content]) => ({ type: "put" as const, path, content }));
  return (await client.call("repo.apply", { repo, message: "put", ops, ...more })).head!;
}

verifies("repo.list:visible", async ({ alice, bob, root }) => {
  const client = await alice();
  const secret = await fresh(client, {}, "listed");
  const open = newName("alice", "listed");
  await client.call("repo.create", { repo: open, public: true, description: "for all" });
  const { workspace } = await client.call("sys.workspace.create", {});
  const names = async (who: Client, owner?: string) =>
    (await who.call("repo.list", owner === undefined ? {} : { owner })).repos.map(({ repo }) => repo);
  const own = await names(client);
  expect(own).toEqual(expect.arrayContaining(["alice/home", secret, open, `alice/${workspace.workspaceId}`]));
  expect(own).toEqual(own.toSorted());
  const seen = await (await bob()).call("repo.list", { owner: "alice" });
  expect(seen.repos.find(({ repo }) => repo === open)).toMatchObject({
    kind: "user",
    writable: false,
    public: true,
    description: "for all",
  });
  expect(seen.repos.every(({ public: isPublic, owner }) => isPublic && owner === "alice")).toBe(true);
  expect(await names(await root(), "alice")).toEqual(await names(client, "alice"));
  expect(await names(await root())).toEqual(expect.arrayContaining(["alice/home", "bob/home", "root/home"]));
  expect((await client.call("repo.list", { owner: "alice" })).repos.find(({ name }) => name === "home")).toMatchObject({
    kind: "home",
    writable: true,
  });
  expect(await names(client, "nobody")).toEqual([]);
});

verifies("repo.create:first", async ({ alice }) => {
  const client = await alice();
  const repo = newName("alice");
  const first = await client.call("repo.create", { repo: `/${repo}/` });
  expect(first).toEqual({ repo, ref: "main", head: expect.stringMatching(HASH), created: true });
  expect(await client.call("repo.create", { repo })).toEqual({ ...first, created: false });
  const { entries } = await client.call("repo.log", { repo });
  expect(entries).toMatchObject([{ message: `repo: create ${repo}`, author: "alice", authorEmail: "alice@gsv.local", parents: [] }]);
  expect(await client.call("repo.create", { repo, ref: "refs/heads/draft" })).toMatchObject({ ref: "draft", created: true });
  expect(Object.keys((await client.call("repo.refs", { repo })).heads)).toEqual(["draft", "main"]);
});

verifies("repo.create:names", async ({ alice }) => {
  const client = await alice();
  for (const repo of ["", "alice", "a/b/c", "alice//"])
    await expectRefusal(client.call("repo.create", { repo }), 400, "repo must be '<owner>/<name>'");
  for (const repo of ["alice/..", "alice/.", "alice/a b", "alice/ü", "alice/x.git", `alice/${"x".repeat(101)}`, "alice/a\0b"])
    await expectRefusal(client.call("repo.create", { repo }), 400, /^Invalid repo owner\/name/);
  await expectRefusal(client.call("repo.create", { repo: "alice/ws_mine" }), 400, /sys\.workspace\.create/);
  await expectRefusal(client.call("repo.create", {} as never), 400, "repo must be '<owner>/<name>'");
  for (const ref of ["a..b", "a b", "-x", "x.lock", "refs/heads/", "a~1"])
    await expectRefusal(client.call("repo.create", { repo: "alice/names", ref }), 400, /^Invalid ref/);
});

verifies("repo.create:owner", async ({ alice, root }) => {
  const client = await alice();
  for (const repo of ["bob/mine", "nobody/mine", "Alice/mine"])
    await expectRefusal(client.call("repo.create", { repo }), 404, `Repository not found: ${repo}`);
  const admin = await root();
  const repo = newName("alice", "by-root");
  expect(await admin.call("repo.create", { repo })).toMatchObject({ created: true });
  expect(await client.call("repo.log", { repo })).toMatchObject({ entries: [{ author: "root" }] });
  await expectRefusal(admin.call("repo.create", { repo: "nobody/mine" }), 404, "Unknown user: nobody");
});

verifies("repo.create:wildcard", async ({ host, alice, root, connect }) => {
  const [client, admin] = [await alice(), await root()];
  const { user } = await admin.call("sys.user.create", { username: "wanda", password: "long enough" });
  const { token } = await admin.call("sys.token.create", { kind: "user", uid: user.uid });
  const auth = { username: "wanda", token: token.token };
  const wanda = await connect(auth);
  const [secret, open] = [await fresh(client, { x: "x" }), await fresh(client, { x: "x" })];
  await client.call("repo.update", { repo: open, public: true });
  await expectRefusal(wanda.call("repo.create", { repo: newName("alice") }), 404);
  await expectRefusal(put(wanda, open, { x: "y" }), 403);
  const { group } = await admin.call("sys.group.create", { name: "wardens" });
  // Grants apply to open connections. All calls of one noun are not all calls.
  await admin.call("sys.capability.grant", { gid: group.gid, capability: "repo.*" });
  await admin.call("sys.group.members", { gid: group.gid, members: ["wanda"] });
  await expectRefusal(put(wanda, open, { x: "y" }), 403);
  await admin.call("sys.capability.grant", { gid: group.gid, capability: "*" });
  const made = newName("alice", "by-wanda");
  expect(await wanda.call("repo.create", { repo: made })).toMatchObject({ created: true });
  expect(await client.call("repo.log", { repo: made })).toMatchObject({ entries: [{ author: "wanda" }] });
  for (const repo of [open, secret]) expect(await put(wanda, repo, { x: "y" })).toMatch(HASH);
  expect(await client.call("repo.read", { repo: secret, path: "x" })).toMatchObject({ content: "y" });
  expect((await wanda.call("repo.list", { owner: "alice" })).repos.find(({ repo }) => repo === open)).toMatchObject({ writable: true });
  await expectRefusal(wanda.call("repo.create", { repo: "nobody/mine" }), 404, "Unknown user: nobody");
  const { repo: workspace } = await client.call("sys.workspace.create", {});
  for (const repo of ["alice/home", workspace, "alice/ws_none"])
    await expectRefusal(put(wanda, repo, { x: "y" }), 404, `Repository not found: ${repo}`);
  // The right to read is separate.
  for (const repo of [secret, "alice/home"]) await expectRefusal(wanda.call("repo.read", { repo }), 404, `Repository not found: ${repo}`);
  await expectRefusal(wanda.call("repo.update", { repo: secret, public: true }), 404, `Repository not found: ${secret}`);
  await expectRefusal(wanda.call("repo.update", { repo: open, public: false }), 403, `Permission denied: cannot write repo ${open}`);
  expect((await wanda.call("repo.list", {})).repos.map(({ repo }) => repo)).not.toContain(secret);
  const git = async (service: string) => {
    const authorization = `Basic ${btoa(`${auth.username}:${auth.token}`)}`;
    const response = await fetch(`${host.url}/git/${secret}/info/refs?service=${service}`, { headers: { authorization } });
    await response.arrayBuffer();
    return response.status;
  };
  expect([await git("git-receive-pack"), await git("git-upload-pack")]).toEqual([200, 404]);
  await admin.call("sys.group.remove", { gid: group.gid });
  await expectRefusal(put(wanda, open, { x: "z" }), 403);
});

verifies("repo.update:public", async ({ alice, bob }) => {
  const client = await alice();
  const other = await bob();
  const repo = await fresh(client, { a: "1" });
  await expectRefusal(other.call("repo.update", { repo, public: true }), 404, `Repository not found: ${repo}`);
  expect(await client.call("repo.update", { repo, public: true, description: "read me" })).toMatchObject({
    repo: { repo, public: true, description: "read me", writable: true },
  });
  expect(await other.call("repo.read", { repo, path: "a" })).toMatchObject({ content: "1" });
  await expectRefusal(other.call("repo.update", { repo, public: false }), 403, `Permission denied: cannot write repo ${repo}`);
  await client.call("repo.update", { repo, public: false });
  await expectRefusal(other.call("repo.read", { repo }), 404);
  await expectRefusal(client.call("repo.update", { repo: "alice/home", public: true }), 409);
  const { repo: workspace } = await client.call("sys.workspace.create", {});
  await expectRefusal(client.call("repo.update", { repo: workspace, public: true }), 409);
  await expectRefusal(client.call("repo.update", { repo: "alice/none", public: true }), 404, "Repository not found: alice/none");
});

verifies("repo.refs:heads", async ({ alice }) => {
  const client = await alice();
  const repo = await fresh(client);
  const main = await put(client, repo, { a: "1" });
  const draft = await put(client, repo, { a: "2" }, { ref: "topic/draft" });
  expect(await client.call("repo.refs", { repo })).toEqual({ repo, heads: { main, "topic/draft": draft }, tags: {} });
});

verifies("repo.read:tree", async ({ alice }) => {
  const client = await alice();
  const repo = await fresh(client);
  const first = await put(client, repo, { "b.txt": "b\n", "dir/c": "c", "dir/d": "d" });
  await put(client, repo, { "later.txt": "x" });
  const tree = await client.call("repo.read", { repo, ref: first });
  expect(tree).toEqual({
    repo,
    ref: first,
    path: "",
    kind: "tree",
    entries: [
      { name: "b.txt", path: "b.txt", mode: "100644", hash: expect.stringMatching(HASH), type: "blob" },
      { name: "dir", path: "dir", mode: "040000", hash: expect.stringMatching(HASH), type: "tree" },
    ],
  });
  expect(await client.call("repo.read", { repo })).toMatchObject({ ref: "main", path: "", kind: "tree", entries: { length: 3 } });
  const below = await client.call("repo.read", { repo, path: "/dir/./" });
  expect(below).toMatchObject({ path: "dir", entries: [{ path: "dir/c" }, { path: "dir/d" }] });
});

verifies("repo.read:file", async ({ alice }) => {
  const client = await alice();
  const repo = await fresh(client, { "b.txt": "bé\n" });
  expect(await client.call("repo.read", { repo, path: "b.txt" })).toEqual({
    repo,
    ref: "main",
    path: "b.txt",
    kind: "file",
    size: 4,
    isBinary: false,
    content: "bé\n",
  });
  for (const [path, contentBase64] of [
    ["nul", btoa("a\0b")],
    ["bytes", btoa("\xff\xfe")],
  ] as const) {
    await client.call("repo.apply", { repo, message: "binary", ops: [{ type: "put", path, contentBase64 }] });
    expect(await client.call("repo.read", { repo, path })).toMatchObject({ isBinary: true, content: null });
  }
  await expectRefusal(client.call("repo.read", { repo, path: "none" }), 404, /^Path not found: none/);
  await expectRefusal(client.call("repo.read", { repo, ref: "none" }), 404, "Ref not found: none");
  await expectRefusal(client.call("repo.read", { repo, path: "../x" }), 400, /^Invalid path/);
  await expectRefusal(client.call("repo.read", { repo, ref: "a..b" }), 400, /^Invalid ref/);
});

verifies("repo.read:home", async ({ bob }) => {
  const client = await bob();
  const { entries } = await client.call("repo.log", { repo: "bob/home" });
  expect(entries).toMatchObject([{ message: "gsv: scaffold home knowledge", author: "bob", authorEmail: "bob@gsv.local" }]);
  for (const path of ["context.d/00-constitution.md", "context.d/10-user.md", "skills.d/.dir", "knowledge/.dir", "knowledge/inbox/.dir"])
    expect(await client.call("repo.read", { repo: "bob/home", path })).toMatchObject({ kind: "file", isBinary: false });
  expect(await client.call("repo.create", { repo: "bob/home" })).toMatchObject({ created: false });
  await client.call("repo.apply", { repo: "bob/home", message: "forget", ops: [{ type: "delete", path: "context.d/10-user.md" }] });
  await expectRefusal(client.call("repo.read", { repo: "bob/home", path: "context.d/10-user.md" }), 404);
});

/** Every call on a repository, with valid arguments. */
function calls(client: Client, repo: string): Record<string, () => Promise<unknown>> {
  return {
    refs: () => client.call("repo.refs", { repo }),
    read: () => client.call("repo.read", { repo }),
    search: () => client.call("repo.search", { repo, query: "x" }),
    log: () => client.call("repo.log", { repo }),
    diff: () => client.call("repo.diff", { repo, commit: "main" }),
    compare: () => client.call("repo.compare", { repo, base: "main", head: "main" }),
    create: () => client.call("repo.create", { repo }),
    update: () => client.call("repo.update", { repo, description: "mine" }),
    apply: () => client.call("repo.apply", { repo, message: "mine", ops: [{ type: "put", path: "x", content: "y" }] }),
    import: () => client.call("repo.import", { repo, remoteUrl: "https://git.example/x" }),
  };
}

verifies("repo.read:foreign", async ({ alice, bob, root }) => {
  const client = await alice();
  const repo = await fresh(client, { x: "x" });
  const { repo: workspace } = await client.call("sys.workspace.create", {});
  const other = await bob();
  const before = await client.call("repo.refs", { repo });
  for (const foreign of [repo, "alice/home", workspace]) {
    for (const [name, call] of Object.entries(calls(other, foreign))) {
      const error = await refusal(call());
      expect([name, error]).toEqual([name, { code: 404, message: `Repository not found: ${foreign}`, details: undefined }]);
      const absent = await refusal(calls(other, "alice/none")[name]!());
      expect(absent).toEqual({ ...error, message: "Repository not found: alice/none" });
    }
  }
  await client.call("repo.update", { repo, public: true });
  for (const [name, call] of Object.entries(calls(other, repo))) {
    if (["create", "update", "apply", "import"].includes(name))
      await expectRefusal(call(), 403, `Permission denied: cannot write repo ${repo}`);
    else await call();
  }
  expect(await client.call("repo.refs", { repo })).toEqual(before);
  expect(await (await root()).call("repo.read", { repo: "alice/home" })).toMatchObject({ kind: "tree" });
});

verifies("repo.search:literal", async ({ alice }) => {
  const client = await alice();
  const repo = await fresh(client, { "a.txt": "one\nHello (there)\n", "docs/b.txt": "hello (there)\n", bin: "x" });
  const before = (await client.call("repo.refs", { repo })).heads.main!;
  await put(client, repo, { "a.txt": "gone\n" });
  const found = await client.call("repo.search", { repo, ref: before, query: "ello (" });
  expect(found).toEqual({
    repo,
    ref: before,
    query: "ello (",
    matches: [
      { path: "a.txt", line: 2, content: "Hello (there)" },
      { path: "docs/b.txt", line: 1, content: "hello (there)" },
    ],
  });
  expect(await client.call("repo.search", { repo, query: "ello (" })).toMatchObject({ ref: "main", matches: [{ path: "docs/b.txt" }] });
  expect(await client.call("repo.search", { repo, ref: before, query: "ello (", prefix: "docs/" })).toMatchObject({
    prefix: "docs/",
    matches: { length: 1 },
  });
  await put(client, repo, { many: "same\n".repeat(501) });
  expect(await client.call("repo.search", { repo, query: "same" })).toMatchObject({ truncated: true, matches: { length: 500 } });
  await expectRefusal(client.call("repo.search", { repo, query: "" }), 400, "query is required");
});

verifies("repo.log:pages", async ({ alice }) => {
  const client = await alice();
  const repo = await fresh(client);
  for (let at = 0; at < 33; at++) await client.call("repo.apply", { repo, message: `change ${at}`, allowEmpty: true, ops: [] });
  const all = await client.call("repo.log", { repo });
  expect(all).toMatchObject({ repo, ref: "main", limit: 30, offset: 0, entries: { length: 30 } });
  expect(all.entries[0]).toMatchObject({ message: "change 32", parents: [all.entries[1]!.hash], committer: "alice" });
  expect(await client.call("repo.log", { repo, limit: 0 })).toMatchObject({ limit: 1, entries: { length: 1 } });
  expect(await client.call("repo.log", { repo, limit: 1000, offset: 32 })).toMatchObject({
    limit: 100,
    offset: 32,
    entries: [{ message: "change 0" }, { message: `repo: create ${repo}` }],
  });
  expect(await client.call("repo.log", { repo, offset: 100 })).toMatchObject({ entries: [] });
});

verifies("repo.diff:commit", async ({ alice }) => {
  const client = await alice();
  const repo = await fresh(client);
  const lines = Array.from({ length: 60 }, (_, at) => `line ${at}`);
  const parent = await put(client, repo, { a: `${lines.join("\n")}\n`, gone: "x\n" });
  lines[30] = "changed";
  const head = (
    await client.call("repo.apply", {
      repo,
      message: "change",
      ops: [
        { type: "put", path: "a", content: `${lines.join("\n")}\n` },
        { type: "delete", path: "gone" },
        { type: "put", path: "bin", contentBase64: btoa("a\0b") },
      ],
    })
  ).head!;
  const diff = await client.call("repo.diff", { repo, commit: head });
  expect(diff).toMatchObject({ repo, commitHash: head, parentHash: parent, stats: { filesChanged: 3, additions: 1, deletions: 2 } });
  expect(diff.files.map(({ path, status }) => [path, status])).toEqual([
    ["a", "modified"],
    ["bin", "added"],
    ["gone", "deleted"],
  ]);
  expect(diff.files[0]!.hunks).toMatchObject([{ oldStart: 28, oldCount: 7, newStart: 28, newCount: 7, lines: { length: 8 } }]);
  expect(diff.files[1]!.hunks).toMatchObject([{ lines: [{ tag: "binary" }] }]);
  const hunkOf = async (context: number) =>
    (await client.call("repo.diff", { repo, commit: "main", context })).files[0]!.hunks![0]!.oldCount;
  expect([await hunkOf(0), await hunkOf(-3), await hunkOf(1000)]).toEqual([1, 1, 41]);
  const { entries } = await client.call("repo.log", { repo });
  expect(await client.call("repo.diff", { repo, commit: entries.at(-1)!.hash })).toMatchObject({ parentHash: null, files: [] });
  await expectRefusal(client.call("repo.diff", { repo, commit: "" }), 400, "commit is required");
  await expectRefusal(client.call("repo.diff", { repo, commit: "0".repeat(40) }), 400);
});

verifies("repo.compare:refs", async ({ alice }) => {
  const client = await alice();
  const repo = await fresh(client);
  const base = await put(client, repo, { a: "1\n" });
  await put(client, repo, { a: "2\n", b: "new\n" });
  const compared = await client.call("repo.compare", { repo, base, head: "main" });
  expect(compared).toMatchObject({ repo, base, head: "main", stats: { filesChanged: 2, additions: 2, deletions: 1 } });
  expect(compared.files[0]!.hunks).toHaveLength(1);
  const short = await client.call("repo.compare", { repo, base, head: "main", stat: true });
  expect(short.stats).toEqual(compared.stats);
  expect(short.files.every((file) => file.hunks === undefined)).toBe(true);
  expect(await client.call("repo.compare", { repo, base: "main", head: base })).toMatchObject({ stats: { deletions: 2 } });
  await expectRefusal(client.call("repo.compare", { repo, base: "", head: "main" }), 400, "base and head are required");
  await expectRefusal(client.call("repo.compare", { repo, base } as never), 400, "base and head are required");
});

verifies("repo.apply:ops", async ({ alice, root }) => {
  const client = await alice();
  // A user's own repository is created on first use.
  const repo = newName("alice");
  const first = await put(client, repo, { a: "a", "d/b": "b", "d/c": "c", z: "z" });
  const { ref, head } = await client.call("repo.apply", {
    repo,
    message: "all at once\n\nwith a body",
    expectedHead: first,
    ops: [
      { type: "put", path: "a", content: "A" },
      { type: "move", from: "d", to: "e" },
      { type: "delete", path: "z" },
      { type: "put", path: "n/e/w", contentBase64: btoa("new") },
    ],
  });
  expect(ref).toBe("main");
  const { files } = await client.call("repo.compare", { repo, base: first, head: head!, stat: true });
  expect(files.map(({ path, status }) => `${status} ${path}`)).toEqual(
    expect.arrayContaining(["modified a", "deleted d/b", "deleted d/c", "added e/b", "added e/c", "added n/e/w", "deleted z"]),
  );
  expect(await client.call("repo.log", { repo, limit: 1 })).toMatchObject({
    entries: [{ message: "all at once\n\nwith a body", author: "alice" }],
  });
  for (const op of [
    { type: "delete" as const, path: "none" },
    { type: "delete" as const, path: "e" },
    { type: "move" as const, from: "a", to: "e/b" },
  ]) {
    const error = await refusal(client.call("repo.apply", { repo, message: "no", ops: [{ type: "put", path: "a", content: "!" }, op] }));
    expect([404, 409]).toContain(error.code);
  }
  expect(await client.call("repo.refs", { repo })).toMatchObject({ heads: { main: head } });
  await client.call("repo.apply", { repo, message: "all", ops: [{ type: "delete", path: "e", recursive: true }] });
  const admin = await root();
  await put(admin, repo, { "by-root": "r" });
  expect(await client.call("repo.log", { repo, limit: 1 })).toMatchObject({ entries: [{ author: "root", authorEmail: "root@gsv.local" }] });
});

verifies("repo.apply:validates", async ({ alice }) => {
  const client = await alice();
  const repo = await fresh(client, { a: "1" });
  const before = await client.call("repo.refs", { repo });
  const apply = (change: object) =>
    client.call("repo.apply", { repo, message: "m", ops: [{ type: "put", path: "x", content: "x" }], ...change } as never);
  await expectRefusal(apply({ message: "" }), 400, "message is required");
  await expectRefusal(apply({ message: "  " }), 400, "message is required");
  await expectRefusal(apply({ message: undefined }), 400, "message is required");
  await expectRefusal(apply({ ops: undefined }), 400, "ops is required");
  const both = { type: "put", path: "p", content: "", contentBase64: "" };
  await expectRefusal(apply({ ops: [both] }), 400, "put p cannot specify both content and contentBase64");
  await expectRefusal(apply({ ops: [{ type: "put", path: "p", contentBase64: "*" }] }), 400);
  await expectRefusal(apply({ ops: [{ type: "put", path: "p" }] }), 400);
  for (const ref of ["a..b", "a b", "refs/tags/x y", "x~"]) await expectRefusal(apply({ ref }), 400, /^Invalid ref/);
  for (const path of ["", "../x", "a/../b", ".git/config", "a/.GIT/x", "x\0y", "C:x", "/"])
    await expectRefusal(apply({ ops: [{ type: "put", path, content: "" }] }), 400, /^Invalid path/);
  expect(await client.call("repo.refs", { repo })).toEqual(before);
});

verifies("repo.apply:conflict", async ({ alice }) => {
  const client = await alice();
  const repo = await fresh(client);
  const old = await put(client, repo, { a: "1" });
  const head = await put(client, repo, { a: "2" }, { expectedHead: old });
  const error = await refusal(put(client, repo, { a: "3" }, { expectedHead: old }));
  expect(error).toMatchObject({ code: 409, details: { expectedHead: old, head } });
  expect(error.message).toContain(old);
  expect(error.message).toContain(head);
  expect(await client.call("repo.read", { repo, path: "a" })).toMatchObject({ content: "2" });
  // Of many at once exactly one succeeds.
  const tries = await Promise.allSettled(
    Array.from({ length: 8 }, (_, at) => put(client, repo, { a: `try ${at}` }, { expectedHead: head })),
  );
  expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

verifies("repo.apply:empty", async ({ alice }) => {
  const client = await alice();
  const repo = await fresh(client, { a: "1" });
  const { main } = (await client.call("repo.refs", { repo })).heads;
  expect(await client.call("repo.apply", { repo, message: "nothing", ops: [] })).toEqual({ ok: true, repo, ref: "main", head: main });
  expect(await put(client, repo, { a: "1" })).toBe(main);
  expect(await put(client, repo, {}, { allowEmpty: true })).not.toBe(main);
  expect(await client.call("repo.apply", { repo, ref: "none", message: "nothing", ops: [] })).toMatchObject({ ref: "none", head: null });
});

verifies("repo.apply:key", async ({ alice, raw }) => {
  const client = await alice();
  const repo = await fresh(client);
  const { token } = await client.call("sys.token.create", { kind: "user" });
  const socket = await raw();
  await socket.connect({ username: "alice", token: token.token });
  const key = `key of ${repo}`;
  const send = (id: string, content: string) => {
    socket.sendFrame({
      type: "req",
      id,
      call: "repo.apply",
      key,
      args: { repo, message: "m", ops: [{ type: "put", path: "a", content }] },
    });
    return socket.frame();
  };
  const first = await send("1", "1");
  expect(first.ok).toBe(true);
  await put(client, repo, { a: "meanwhile" });
  expect(await send("2", "1")).toEqual({ ...first, id: "2" });
  expect((await send("3", "2")).error).toMatchObject({ code: 409 });
  expect(await client.call("repo.log", { repo })).toMatchObject({ entries: { length: 3 } });
});

verifies("repo.apply:restart", async ({ fresh: another, connect }) => {
  const host = await another();
  const { populate, ALICE } = await import("../../support/people.ts");
  await populate(host);
  const client = await connect(ALICE, {}, host);
  const head = await put(client, "alice/kept", { a: "kept\n" });
  const { workspace } = await client.call("sys.workspace.create", { label: "kept" });
  client.close();
  await host.restart();
  const again = await connect(ALICE, {}, host);
  expect(await again.call("repo.refs", { repo: "alice/kept" })).toMatchObject({ heads: { main: head } });
  expect(await again.call("repo.read", { repo: "alice/kept", path: "a" })).toMatchObject({ content: "kept\n" });
  expect(await again.call("sys.workspace.list", {})).toMatchObject({ workspaces: [{ workspaceId: workspace.workspaceId, label: "kept" }] });
});

verifies("repo.apply:large", async ({ alice }) => {
  const client = await alice();
  const text = `${"0123456789abcdef".repeat(64)}\n`.repeat(12 * 1024);
  const repo = await fresh(client, { large: text });
  const read = await client.call("repo.read", { repo, path: "large" });
  expect(read.kind === "file" && read.content === text).toBe(true);
  // Every control character takes six characters in JSON.
  const swollen = "\u0001".repeat(7 * 1024 * 1024);
  await client.call("repo.apply", { repo, message: "swollen", ops: [{ type: "put", path: "swollen", contentBase64: btoa(swollen) }] });
  await expectRefusal(client.call("repo.read", { repo, path: "swollen" }), 413, /^Result too large/);
  expect(await client.call("repo.read", { repo })).toMatchObject({ kind: "tree" });
});

/**
 * Allows the gateway's own address, so that its public repositories can serve as a remote. Returns a function that undoes this.
 */
async function allowOwnHost({ host, root }: World): Promise<() => Promise<void>> {
  const admin = await root();
  await admin.call("sys.config.set", { key: "config/net/allowed_hosts", value: new URL(host.url).host });
  return async () => void (await admin.call("sys.config.set", { key: "config/net/allowed_hosts", value: "" }));
}

verifies("repo.import:brings", async (world) => {
  const client = await world.alice();
  const source = newName("alice", "source");
  await client.call("repo.create", { repo: source, public: true });
  const first = await put(client, source, { a: "1\n", "d/b": "2\n" });
  const remoteUrl = `${world.host.url}/git/${source}`;
  const close = await allowOwnHost(world);
  try {
    const repo = newName("alice", "copy");
    expect(await client.call("repo.import", { repo, remoteUrl })).toEqual({
      repo,
      ref: "main",
      head: first,
      changed: true,
      remoteUrl,
      remoteRef: "main",
    });
    expect(await client.call("repo.read", { repo, path: "d/b" })).toMatchObject({ content: "2\n" });
    expect(await client.call("repo.import", { repo })).toMatchObject({ changed: false, remoteUrl });
    const second = await put(client, source, { a: "3\n" });
    await put(client, repo, { mine: "lost\n" });
    expect(await client.call("repo.import", { repo })).toMatchObject({ changed: true, head: second });
    expect(await client.call("repo.import", { repo, ref: "theirs", remoteUrl, remoteRef: "main" })).toMatchObject({
      ref: "theirs",
      head: second,
    });
    await expectRefusal(client.call("repo.import", { repo, remoteUrl, remoteRef: "none" }), 404, /has no ref none/);
    // A remote that requires authentication.
    await expectRefusal(client.call("repo.import", { repo, remoteUrl: `${world.host.url}/git/alice/home` }), 503, /401/);
    await expectRefusal(client.call("repo.import", { repo, remoteUrl: world.host.url }), 503, /404/);
  } finally {
    await close();
  }
});

verifies("repo.import:message", async (world) => {
  const client = await world.alice();
  const source = newName("alice", "source");
  await client.call("repo.create", { repo: source, public: true });
  const theirs = await put(client, source, { a: "1\n" });
  const remoteUrl = `${world.host.url}/git/${source}`;
  const close = await allowOwnHost(world);
  try {
    const repo = newName("alice", "vendored");
    const first = await client.call("repo.import", { repo, remoteUrl, message: "vendor the source" });
    expect(first).toMatchObject({ changed: true, head: expect.stringMatching(HASH) });
    const { entries } = await client.call("repo.log", { repo });
    expect(entries[0]).toMatchObject({ hash: first.head, message: "vendor the source", author: "alice", parents: [theirs] });
    expect(entries[1]).toMatchObject({ hash: theirs });
    expect(entries[0]!.treeHash).toBe(entries[1]!.treeHash);
    // The same import again changes nothing.
    expect(await client.call("repo.import", { repo, message: "vendor the source" })).toMatchObject({ changed: false, head: first.head });
    expect(await client.call("repo.import", { repo, message: "once more" })).toMatchObject({ changed: true });
    expect((await client.call("repo.log", { repo })).entries).toMatchObject([
      { message: "once more", parents: [theirs] },
      { hash: theirs },
      {},
    ]);
    // Without a message the head is the remote's.
    expect(await client.call("repo.import", { repo })).toMatchObject({ changed: true, head: theirs });
  } finally {
    await close();
  }
});

verifies("repo.import:refuses", async ({ alice, host }) => {
  const client = await alice();
  const repo = await fresh(client);
  const { port } = new URL(host.url);
  for (const remoteUrl of [
    `http://127.0.0.1:${port}/git/alice/home`,
    `http://localhost:${port}/x`,
    "http://[::1]/x",
    "http://10.0.0.1/x",
    "http://169.254.169.254/x",
  ])
    await expectRefusal(client.call("repo.import", { repo, remoteUrl }), 403);
  await expectRefusal(client.call("repo.import", { repo, remoteUrl: "https://me:secret@git.example/x" }), 400, /must not contain/);
  for (const remoteUrl of ["file:///etc/passwd", "ssh://git.example/x", "ext::sh", "/etc", "git@git.example:x"])
    await expectRefusal(client.call("repo.import", { repo, remoteUrl }), 400);
  await expectRefusal(client.call("repo.import", { repo }), 400, /^remoteUrl is required/);
  expect(Object.keys((await client.call("repo.refs", { repo })).heads)).toEqual(["main"]);
});

verifies("sys.workspace.create:makes", async ({ alice }) => {
  const client = await alice();
  const { workspace, repo } = await client.call("sys.workspace.create", { label: "taxes", kind: "shared" });
  expect(workspace).toMatchObject({
    workspaceId: expect.stringMatching(/^ws_[0-9a-f-]{36}$/),
    label: "taxes",
    kind: "shared",
    state: "active",
  });
  expect(repo).toBe(`alice/${workspace.workspaceId}`);
  const facts = await client.call("repo.read", { repo, path: ".gsv/workspace.json" });
  const { workspaceId, ownerUid, label, kind, createdAt } = workspace;
  expect(facts.kind === "file" && facts.content).toBe(
    `${JSON.stringify({ workspaceId, ownerUid, ownerUsername: "alice", label, kind, createdAt }, null, 2)}\n`,
  );
  expect(await client.call("repo.read", { repo, path: ".gsv/summary.md" })).toMatchObject({ content: "" });
  expect((await client.call("sys.workspace.create", {})).workspace).toMatchObject({ label: null, kind: "thread" });
});

verifies("sys.workspace.list:own", async ({ bob, alice, root }) => {
  const client = await bob();
  const make = async (args: object) => (await client.call("sys.workspace.create", args)).workspace.workspaceId;
  const ids = [await make({ label: "one" }), await make({ label: "two", kind: "app" }), await make({ label: "three" })];
  // The next change gets a later time on the gateway's clock.
  const waitForClock = async () => {
    const { now } = await client.call("sys.info", {});
    await expect.poll(async () => (await client.call("sys.info", {})).now, { interval: 1 }).toBeGreaterThan(now);
  };
  await waitForClock();
  await client.call("sys.workspace.update", { workspaceId: ids[1]!, state: "archived" });
  await waitForClock();
  const head = await put(client, `bob/${ids[0]}`, { x: "x" });
  const list = async (args: object, who = client) =>
    (await who.call("sys.workspace.list", args)).workspaces.map(({ workspaceId }) => workspaceId);
  const { workspaces } = await client.call("sys.workspace.list", {});
  expect(workspaces.slice(0, 3).map(({ workspaceId }) => workspaceId)).toEqual([ids[0], ids[1], ids[2]]);
  expect(workspaces[0]).toMatchObject({ defaultBranch: "main", headCommit: head, activeProcess: null, processCount: 0 });
  expect(workspaces[2]!.headCommit).toMatch(HASH);
  expect(await list({ kind: "app", state: "archived" })).toEqual([ids[1]]);
  expect(await list({ state: "active", limit: 1.9 })).toEqual([ids[0]]);
  expect(await list({ limit: -1 })).toHaveLength(workspaces.length);
  const uid = workspaces[0]!.ownerUid;
  expect(await list({ uid }, await root())).toEqual(workspaces.map(({ workspaceId }) => workspaceId));
  const other = await alice();
  for (const foreign of [uid, 99_999])
    await expectRefusal(
      other.call("sys.workspace.list", { uid: foreign }),
      403,
      `Permission denied: cannot list workspaces for uid ${foreign}`,
    );
});

verifies("sys.workspace.update:own", async ({ alice, bob, root }) => {
  const client = await alice();
  const { workspace } = await client.call("sys.workspace.create", { label: "old" });
  const { workspaceId } = workspace;
  expect(await client.call("sys.workspace.update", { workspaceId, label: "new" })).toMatchObject({
    workspace: { label: "new", state: "active" },
  });
  expect(await client.call("sys.workspace.update", { workspaceId, label: null, state: "archived" })).toMatchObject({
    workspace: { label: null, state: "archived" },
  });
  const other = await bob();
  await expectRefusal(other.call("sys.workspace.update", { workspaceId, label: "mine" }), 404, `Workspace not found: ${workspaceId}`);
  await expectRefusal(other.call("sys.workspace.update", { workspaceId: "ws_none", label: "mine" }), 404, "Workspace not found: ws_none");
  expect(await (await root()).call("sys.workspace.update", { workspaceId, state: "active" })).toMatchObject({
    workspace: { state: "active" },
  });
  // An archived workspace keeps its files.
  expect(await client.call("repo.read", { repo: `alice/${workspaceId}`, path: ".gsv/summary.md" })).toMatchObject({ size: 0 });
});
