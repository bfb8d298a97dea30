// Runs stock git against serveGit, and one script against both serveGit and git's own server.

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commit, git, ok, stock } from "../../test/support/git.ts";
import { NodeSql } from "../hosts/node/sql.ts";
import type { HttpFetch } from "./remote.ts";
import { Repository } from "./repository.ts";
import { type GitAccess, serveGit } from "./serve.ts";

const sam = { name: "sam", email: "sam@gsv.local" };
const now = 1_700_000_000_000;
const full: GitAccess = { read: true, write: true, actor: "sam" };

const root = mkdtempSync(join(tmpdir(), "gsv-git-http-"));
const repositories = new Map<string, Repository>();
let access: GitAccess = full;
let server: Server;
let base: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const handled = request.url!.startsWith("/stock/") ? stock(root, "/stock", request, response) : serveOurs(request, response);
    handled.catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(root, { recursive: true, force: true });
});

async function serveOurs(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url!, base);
  const [, name = "", ...path] = url.pathname.split("/");
  const answer = await serveGit(
    repositories.get(name)!,
    {
      method: request.method!,
      path: `/${path.join("/")}`,
      query: url.searchParams,
      headers: new Headers(request.headers as Record<string, string>),
      body: request.method === "POST" ? (Readable.toWeb(request) as ReadableStream<Uint8Array>) : null,
    },
    access,
  );
  response.writeHead(answer.status, answer.headers);
  for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) response.write(piece);
  response.end();
}

function serve(name: string, limits = {}): Repository {
  const repository = new Repository(new NodeSql(join(root, `${name}.sqlite`), () => {}), limits);
  repositories.set(name, repository);
  return repository;
}

/** Makes commits on the current branch that no server has, in one git process. */
async function localCommits(dir: string, count: number): Promise<void> {
  const lines = [
    "commit refs/heads/main",
    "committer kim <kim@example.org> 1700000002 +0000",
    "data 1",
    "0",
    `from ${await ok(dir, "rev-parse", "HEAD")}`,
  ];
  for (let i = 1; i < count; i++)
    lines.push("commit refs/heads/main", `committer kim <kim@example.org> ${1_700_000_002 + i} +0000`, "data 1", "x");
  execFileSync("git", ["-C", dir, "fast-import", "--quiet"], { input: `${lines.join("\n")}\n` });
}

const fsck = (dir: string) => ok(dir, "fsck", "--strict", "--full", "--no-dangling");

describe("stock git", () => {
  test("clone, commit, push, fetch, shallow clone, deepen and delete work", async () => {
    const repository = serve("life");
    for (let i = 0; i < 12; i++) {
      const ops = [{ type: "put" as const, path: `dir/file-${i}.txt`, content: `content ${i}\n`.repeat(50) }];
      repository.apply({ message: `commit ${i}`, ops, author: sam, now: now + i * 1000 });
    }
    await ok(root, "clone", "-q", `${base}/life`, "life");
    const dir = join(root, "life");
    await fsck(dir);
    expect(await ok(dir, "rev-parse", "HEAD")).toBe(repository.head());
    expect(await ok(dir, "log", "--format=%an %ae %s", "-1")).toBe("sam sam@gsv.local commit 11");
    expect((await ok(dir, "log", "--format=%H")).split("\n")).toEqual(repository.log("main", 100).entries.map((entry) => entry.hash));

    const pushed = await commit(dir, { "new.txt": "hello\n", exec: "#!/bin/sh\n" }, "from git");
    await ok(dir, "tag", "-a", "v1", "-m", "one");
    await ok(dir, "tag", "light");
    await ok(dir, "push", "-q", "origin", "main", "v1", "light", "HEAD:refs/heads/feature/x");
    expect(repository.refs()).toEqual({
      heads: { main: pushed, "feature/x": pushed },
      tags: { v1: await ok(dir, "rev-parse", "v1"), light: pushed },
    });
    expect(repository.read("v1", "new.txt")).toMatchObject({ content: "hello\n" });
    expect(repository.log().entries[0]).toMatchObject({ author: "kim", message: "from git", authorTime: 1_700_000_001 });

    const second = repository.apply({ message: "ours", ops: [{ type: "put", path: "ours.txt", content: "o" }], author: sam, now }).head!;
    await ok(dir, "fetch", "-q");
    expect(await ok(dir, "rev-parse", "origin/main")).toBe(second);
    await ok(dir, "merge", "-q", "--ff-only", "origin/main");
    await fsck(dir);

    await ok(root, "clone", "-q", "--depth", "1", `${base}/life`, "shallow");
    const shallow = join(root, "shallow");
    expect(await ok(shallow, "rev-list", "--count", "HEAD")).toBe("1");
    await fsck(shallow);
    await ok(shallow, "fetch", "-q", "--depth", "3");
    expect(await ok(shallow, "rev-list", "--count", "HEAD")).toBe("3");
    await ok(shallow, "fetch", "-q", "--deepen", "2");
    expect(await ok(shallow, "rev-list", "--count", "HEAD")).toBe("5");
    await fsck(shallow);
    const fromShallow = await commit(shallow, { s: "s" }, "from shallow");
    await ok(shallow, "push", "-q", "origin", "main");
    expect(repository.head()).toBe(fromShallow);
    repository.apply({ message: "more", ops: [{ type: "put", path: "more", content: "m" }], author: sam, now });
    await ok(shallow, "pull", "-q", "--ff-only");
    await ok(shallow, "fetch", "-q", "--unshallow");
    expect(await ok(shallow, "rev-list", "--count", "HEAD")).toBe(String(repository.log("main", 100).entries.length));
    await fsck(shallow);

    await ok(dir, "push", "-q", "origin", "--delete", "feature/x", "light");
    expect(repository.refs()).toMatchObject({ heads: { main: expect.any(String) }, tags: { v1: expect.any(String) } });
    expect(Object.keys(repository.refs().heads)).toEqual(["main"]);
  }, 60_000);

  test("a clone includes tags, with old protocol versions too", async () => {
    for (const version of ["0", "1", "2"]) {
      await ok(root, "-c", `protocol.version=${version}`, "clone", "-q", `${base}/life`, `life-v${version}`);
      expect(await ok(join(root, `life-v${version}`), "tag")).toBe("v1");
      await fsck(join(root, `life-v${version}`));
    }
    await ok(root, "clone", "-q", "--single-branch", "--branch", "v1", "--depth", "2", `${base}/life`, "life-tag");
    await fsck(join(root, "life-tag"));
  }, 60_000);

  test("fetches work with merges, many branches and a client that is far behind", async () => {
    const repository = serve("graph");
    await ok(root, "init", "-q", "graph-a");
    const a = join(root, "graph-a");
    await ok(a, "remote", "add", "origin", `${base}/graph`);
    await commit(a, { base: "0" }, "root");
    await ok(a, "push", "-q", "origin", "main");
    await ok(root, "clone", "-q", `${base}/graph`, "graph-b");
    const b = join(root, "graph-b");
    for (let i = 0; i < 6; i++) {
      await ok(a, "checkout", "-q", "-b", `topic-${i}`, "main");
      await commit(a, { [`topic-${i}`]: "x".repeat(1000 + i) }, `topic ${i}`);
      await commit(a, { [`topic-${i}`]: "y".repeat(1000 + i) }, `topic ${i} again`);
      await ok(a, "checkout", "-q", "main");
      await commit(a, { trunk: String(i) }, `main ${i}`);
      await ok(a, "merge", "-q", "--no-ff", "-m", `merge ${i}`, `topic-${i}`);
    }
    // The other clone has local commits that the server does not have.
    await localCommits(b, 40);
    await ok(a, "push", "-q", "--all", "origin");
    await ok(b, "fetch", "-q");
    await fsck(b);
    for (const ref of Object.keys(repository.refs().heads))
      expect(await ok(b, "rev-parse", `origin/${ref}`)).toBe(repository.refs().heads[ref]);
    const entries = repository.log("main", 100).entries.map((entry) => entry.hash);
    expect((await ok(a, "rev-list", "--first-parent", "main")).split("\n")).toEqual(entries);
    await ok(b, "rebase", "-q", "origin/main");
    await ok(b, "push", "-q", "origin", "main");
    await ok(a, "pull", "-q", "--ff-only", "origin", "main");
    await fsck(a);
  }, 60_000);

  test("the client refuses a push that is not a fast-forward, and so does the server if force is false", async () => {
    const repository = serve("strict");
    repository.create("sam/strict", sam, now);
    await ok(root, "clone", "-q", `${base}/strict`, "strict");
    const dir = join(root, "strict");
    const head = repository.apply({ message: "theirs", ops: [{ type: "put", path: "a", content: "1" }], author: sam, now }).head;
    await commit(dir, { b: "2" });
    const plain = await git(dir, "push", "origin", "main");
    expect(plain.code).not.toBe(0);
    expect(plain.err).toMatch(/rejected.*fetch first/s);
    access = { ...full, force: false };
    const count = repository.store.objects.count();
    const forced = await git(dir, "push", "--force", "origin", "main");
    access = full;
    expect(forced.code).not.toBe(0);
    expect(forced.err).toContain("non-fast-forward");
    expect(repository.head()).toBe(head);
    expect(repository.store.objects.count()).toBe(count);
    // A lease on a commit that main does not point to.
    const lease = await git(dir, "push", "--force-with-lease=main:HEAD", "origin", "main");
    expect(lease.err).toContain("stale info");
    const current = await git(dir, "push", "origin", "--delete", "main");
    expect(current.err).toContain("deletion of the current branch prohibited");
    expect(current.code).not.toBe(0);
  }, 60_000);

  test("an atomic push moves all refs or none", async () => {
    const repository = serve("atomic");
    repository.create("sam/atomic", sam, now);
    await ok(root, "clone", "-q", `${base}/atomic`, "atomic");
    const dir = join(root, "atomic");
    await commit(dir, { a: "1" });
    const before = repository.refs();
    access = { ...full, force: false };
    await ok(dir, "push", "-q", "origin", "HEAD:refs/heads/side");
    await ok(dir, "commit", "-q", "--amend", "-m", "amended");
    const push = ["push", "--force", "origin", "HEAD:refs/heads/side", "HEAD:refs/heads/fresh"];
    const atomic = await git(dir, ...push, "--atomic");
    expect(atomic.code).not.toBe(0);
    expect(Object.keys(repository.refs().heads)).toEqual(["main", "side"]);
    const loose = await git(dir, ...push);
    access = full;
    expect(loose.code).not.toBe(0);
    expect(Object.keys(repository.refs().heads)).toEqual(["fresh", "main", "side"]);
    expect(repository.refs().heads.main).toBe(before.heads.main);
  }, 60_000);

  test("clients without rights are refused, and an unreadable repository looks like an unknown one", async () => {
    access = { read: false, write: false, actor: null };
    expect((await git(root, "ls-remote", `${base}/life`)).err).toContain("could not read Username");
    access = { read: false, write: false, actor: "kim" };
    expect((await git(root, "ls-remote", `${base}/life`)).err).toContain("not found");
    access = { read: true, write: false, actor: "kim" };
    expect((await git(root, "ls-remote", `${base}/life`)).code).toBe(0);
    const push = await git(join(root, "life"), "push", "origin", "HEAD:refs/heads/nope");
    access = full;
    expect(push.err).toContain("403");
    expect(push.code).not.toBe(0);
    for (const [path, status] of [
      ["/life/HEAD", 404],
      ["/life/info/refs", 404],
      ["/life/objects/info/packs", 404],
    ] as const)
      expect((await fetch(base + path)).status).toBe(status);
    expect((await fetch(`${base}/life/git-receive-pack`, { method: "POST", body: "0000" })).status).toBe(415);
  });

  test("a pack over the limit is refused with a message that git shows", async () => {
    const repository = serve("small", { packBytes: 300_000 });
    await ok(root, "init", "-q", "small");
    const dir = join(root, "small");
    writeFileSync(join(dir, "noise"), randomBytes(2_000_000));
    await commit(dir, {});
    const push = await git(dir, "push", `${base}/small`, "main");
    expect(push.code).not.toBe(0);
    expect(push.err).toContain("Pack too large");
    expect(repository.refs().heads).toEqual({});
    expect(repository.store.objects.count()).toBe(1);
  }, 60_000);

  test("a chunked push and a compressed fetch request work", async () => {
    const repository = serve("large");
    await ok(root, "init", "-q", "large");
    const dir = join(root, "large");
    for (let i = 0; i < 400; i++) writeFileSync(join(dir, `f${i}`), `${i} `.repeat(3000));
    await commit(dir, {});
    await ok(dir, "-c", "http.postBuffer=1000", "push", "-q", `${base}/large`, "main");
    await ok(root, "clone", "-q", `${base}/large`, "large-2");
    await fsck(join(root, "large-2"));
    expect((await repository.search("main", "399 399")).matches).toHaveLength(1);
    // Many haves make the client compress its request.
    await localCommits(join(root, "large-2"), 60);
    repository.apply({ message: "m", ops: [{ type: "put", path: "x", content: "x" }], author: sam, now });
    await ok(join(root, "large-2"), "fetch", "-q");
    await fsck(join(root, "large-2"));
  }, 60_000);
});

test("the same script against git http-backend gives the same refs and exit codes", async () => {
  const script = async (url: string, name: string): Promise<unknown[]> => {
    const results: unknown[] = [];
    const step = async (cwd: string, ...args: string[]) => results.push([args[0], (await git(cwd, ...args)).code]);
    const a = join(root, `${name}-a`);
    const b = join(root, `${name}-b`);
    await step(root, "clone", "-q", url, a);
    await commit(a, { one: "1" }, "one");
    await step(a, "push", "-q", "origin", "main");
    await step(root, "clone", "-q", url, b);
    await commit(b, { two: "2" }, "two");
    await step(b, "push", "-q", "origin", "main");
    await commit(a, { three: "3" }, "three");
    await step(a, "push", "-q", "origin", "main");
    await step(a, "push", "-q", "origin", "HEAD:refs/heads/other", "HEAD:refs/tags/t");
    await step(a, "fetch", "-q");
    await step(a, "rebase", "-q", "origin/main");
    await step(a, "push", "-q", "origin", "main");
    await step(b, "commit", "-q", "--amend", "-m", "rewritten");
    await step(b, "push", "-q", "origin", "main");
    await step(b, "push", "-q", "--force", "origin", "main");
    await step(b, "push", "-q", "origin", "HEAD:refs/heads/other/inner");
    await step(b, "push", "-q", "origin", "--delete", "none");
    await step(b, "push", "-q", "origin", "--delete", "main");
    await step(b, "tag", "-a", "v1", "-m", "v1");
    await step(b, "push", "-q", "--tags", "origin");
    await step(b, "push", "-q", "origin", "--delete", "other");
    await step(a, "fetch", "-q", "--prune", "--tags");
    await step(root, "clone", "-q", "--depth", "1", url, join(root, `${name}-c`));
    await step(join(root, `${name}-c`), "fetch", "-q", "--unshallow");
    await step(root, "clone", "-q", "--branch", "nope", url, join(root, `${name}-d`));
    for (const dir of [a, b, join(root, `${name}-c`)]) await step(dir, "fsck", "--strict");
    results.push((await git(root, "ls-remote", "--symref", url)).out);
    return results;
  };
  serve("script");
  await ok(root, "init", "-q", "--bare", "stock.git");
  await ok(join(root, "stock.git"), "config", "http.receivepack", "true");
  const [mine, theirs] = [await script(`${base}/script`, "mine"), await script(`${base}/stock/stock.git`, "theirs")];
  expect(mine).toEqual(theirs);
}, 120_000);

describe("import", () => {
  const http: HttpFetch = async (url, { body, ...request }) => {
    const init: RequestInit = body === undefined ? request : { ...request, body: new Uint8Array(body) };
    const answer = await fetch(url, init);
    return { status: answer.status, headers: answer.headers, body: answer.body as ReadableStream<Uint8Array> | null, url: answer.url };
  };

  test("imports from stock git: everything, then only new objects, then nothing", async () => {
    const dir = join(root, "origin.git");
    await ok(root, "init", "-q", "--bare", dir);
    const work = join(root, "work");
    await ok(root, "clone", "-q", dir, work);
    const text = (n: number) => Array.from({ length: 400 }, (_, i) => `line ${i === n ? "changed" : i}`).join("\n");
    for (let i = 0; i < 30; i++) await commit(work, { text: text(i), [`f${i}`]: String(i) }, `c${i}`);
    await ok(work, "push", "-q", "origin", "main");
    await ok(dir, "gc", "-q", "--aggressive");
    const repository = new Repository(new NodeSql(":memory:", () => {}));
    const request = { remoteUrl: `${base}/stock/origin.git`, http };
    const first = await repository.import(request);
    expect(first).toEqual({
      ref: "main",
      head: await ok(work, "rev-parse", "HEAD"),
      changed: true,
      remoteUrl: request.remoteUrl,
      remoteRef: "main",
    });
    expect(repository.log("main", 100).entries).toHaveLength(30);
    expect(await repository.import(request)).toEqual({ ...first, changed: false });
    const second = await commit(work, { text: text(77) }, "thin");
    await ok(work, "push", "-q", "origin", "main", "HEAD:refs/heads/side");
    expect(await repository.import({ ...request, ref: "mirror", remoteRef: "side" })).toMatchObject({
      ref: "mirror",
      head: second,
      changed: true,
    });
    expect(repository.read("mirror", "text")).toMatchObject({ content: text(77) });
    await ok(work, "reset", "-q", "--hard", "HEAD~5");
    await ok(work, "push", "-q", "--force", "origin", "main");
    expect(await repository.import(request)).toMatchObject({ head: await ok(work, "rev-parse", "HEAD"), changed: true });
    await expect(repository.import({ ...request, remoteRef: "none" })).rejects.toThrow("has no ref none");
    await expect(repository.import({ ...request, remoteUrl: `${base}/stock/none.git` })).rejects.toThrow("answered 404");
    await expect(repository.import({ ...request, remoteUrl: "file:///etc" })).rejects.toThrow("Only http and https");
    await expect(repository.import({ ...request, remoteUrl: "http://a:b@localhost/x" })).rejects.toThrow("must not contain credentials");
    const small = new Repository(new NodeSql(":memory:", () => {}), { packBytes: 1000 });
    await expect(small.import(request)).rejects.toThrow("Pack too large");
    expect(small.store.objects.count()).toBe(1);
  }, 60_000);

  test("imports from another gateway", async () => {
    const repository = new Repository(new NodeSql(":memory:", () => {}));
    const head = repositories.get("graph")!.head();
    expect(await repository.import({ remoteUrl: `${base}/graph`, http })).toMatchObject({ head, changed: true });
    expect(repository.store.sql.get("SELECT count(*) AS n FROM incoming")).toEqual({ n: 0 });
  });
});

test("git is installed", () => expect(execFileSync("git", ["--version"], { encoding: "utf8" })).toContain("git version"));
