// Stock git against a running gateway of each kind, and the same operations against stock git's own server.

import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { startCloudflareHost } from "../support/cloudflare-host.ts";
import { commit, git, ok, scratch, stockServer, withLogin } from "../support/git.ts";
import type { Host } from "../support/host.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, BOB, enter, populate, ROOT } from "../support/people.ts";

describe.each([
  ["node", startNodeHost],
  ["cloudflare", startCloudflareHost],
] as const)("git at the %s host", (_, start) => {
  let host: Host;
  let root: string;
  let alice: Client;
  let bob: Client;
  let admin: Client;
  const tokens: Record<string, string> = {};

  beforeAll(async () => {
    host = await start();
    await populate(host);
    root = scratch();
    [alice, bob, admin] = await Promise.all([enter(host, ALICE), enter(host, BOB), enter(host, ROOT)]);
    for (const [name, client] of [
      ["alice", alice],
      ["bob", bob],
      ["root", admin],
    ] as const)
      tokens[name] = (await client.call("sys.token.create", { kind: "user" })).token.token;
  });

  afterAll(async () => {
    for (const client of [alice, bob, admin]) client.close();
    await host.close();
    rmSync(root, { recursive: true, force: true });
  });

  const at = (repo: string, who?: string, secret = tokens[who ?? ""]!) =>
    who === undefined ? `${host.url}/git/${repo}` : withLogin(`${host.url}/git/${repo}`, who, secret);
  const get = async (repo: string, headers: Record<string, string> = {}, service = "git-upload-pack") => {
    const response = await fetch(`${host.url}/git/${repo}/info/refs?service=${service}`, { headers });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const basic = (who: string, secret = tokens[who]!) => ({ authorization: `Basic ${btoa(`${who}:${secret}`)}` });

  test("clone, commit, push, fetch and pull", async () => {
    await alice.call("repo.create", { repo: "alice/work" });
    await ok(root, "clone", "-q", at("alice/work.git", "alice"), "work");
    const dir = join(root, "work");
    const first = await commit(dir, { "a.txt": "one\n", "deep/er/b.txt": "two\n" }, "first");
    await ok(dir, "push", "-q", "origin", "main");
    expect(await alice.call("repo.refs", { repo: "alice/work" })).toMatchObject({ heads: { main: first } });
    const { head } = await alice.call("repo.apply", {
      repo: "alice/work",
      message: "by call",
      ops: [{ type: "put", path: "c.txt", content: "three\n" }],
    });
    await ok(dir, "pull", "-q", "--ff-only");
    expect(await ok(dir, "rev-parse", "HEAD")).toBe(head);
    await ok(dir, "tag", "-a", "v1", "-m", "version one");
    await ok(dir, "push", "-q", "origin", "v1");
    expect(Object.keys((await alice.call("repo.refs", { repo: "alice/work" })).tags)).toEqual(["v1"]);
    await ok(root, "clone", "-q", at("alice/work", "alice"), "again");
    expect(await ok(join(root, "again"), "fsck", "--strict", "--no-progress")).toBe("");
    expect(await ok(join(root, "again"), "log", "--format=%an <%ae> %s", "-2")).toBe(
      "alice <alice@gsv.local> by call\nkim <kim@example.org> first",
    );
  });

  test("a push over its owner's quota is refused with the reason, and leaves nothing behind", async () => {
    const { user } = await admin.call("sys.user.create", { username: "quinn", password: "long enough to log in" });
    const key = `config/files/user_quota_bytes/${user.uid}`;
    await admin.call("sys.config.set", { key, value: 300_000 });
    const quinn = await enter(host, { username: "quinn", password: "long enough to log in" });
    tokens.quinn = (await quinn.call("sys.token.create", { kind: "user" })).token.token;
    await quinn.call("repo.create", { repo: "quinn/work" });
    await ok(root, "clone", "-q", at("quinn/work", "quinn"), "quota");
    const dir = join(root, "quota");
    const first = await commit(dir, { "a.bin": randomBytes(100_000) }, "first");
    await ok(dir, "push", "-q", "origin", "main");
    const used = async () => JSON.stringify(await quinn.call("fs.read", { path: "/proc/self/quota" }));
    const before = await used();
    await commit(dir, { "b.bin": randomBytes(250_000) }, "second");
    const refused = await git(dir, "push", "origin", "main");
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain("Quota exceeded: quinn uses ");
    expect(refused.err).toContain(key);
    expect(await quinn.call("repo.refs", { repo: "quinn/work" })).toMatchObject({ heads: { main: first } });
    expect(await used()).toBe(before);
    await ok(dir, "push", "-q", "origin", `${first}:refs/heads/old`);
    await ok(dir, "push", "-q", "origin", ":old");
    await admin.call("sys.config.set", { key, value: 1_000_000 });
    await ok(dir, "push", "-q", "origin", "main");
    quinn.close();
  });

  test("shallow clone, and a push from it", async () => {
    await ok(root, "clone", "-q", "--depth", "1", at("alice/work", "alice"), "shallow");
    const dir = join(root, "shallow");
    expect(await ok(dir, "rev-list", "--count", "HEAD")).toBe("1");
    await commit(dir, { "d.txt": "four\n" }, "from shallow");
    await ok(dir, "push", "-q", "origin", "main");
    await ok(dir, "fetch", "-q", "--unshallow");
    expect(await ok(dir, "fsck", "--strict", "--no-progress")).toBe("");
  });

  test("pushes and clones megabytes", async () => {
    await alice.call("repo.create", { repo: "alice/big" });
    await ok(root, "clone", "-q", at("alice/big", "alice"), "big");
    const noise = Buffer.alloc(6_000_000);
    for (let i = 0; i < noise.length; i++) noise[i] = (Math.imul(i ^ 0x9e3779b9, 0x85ebca6b) >>> 13) & 255;
    const dir = join(root, "big");
    await commit(dir, { noise, ...Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`many/${i}`, `file ${i}\n`])) });
    await ok(dir, "push", "-q", "origin", "main");
    await ok(root, "clone", "-q", at("alice/big", "alice"), "big2");
    expect(await ok(join(root, "big2"), "fsck", "--strict", "--no-progress")).toBe("");
    expect(await ok(join(root, "big2"), "rev-parse", "HEAD^{tree}")).toBe(await ok(dir, "rev-parse", "HEAD^{tree}"));
  });

  test("a push that is not a fast-forward is rejected and changes nothing", async () => {
    const { head } = await alice.call("repo.apply", { repo: "alice/work", message: "ahead", allowEmpty: true, ops: [] });
    const dir = join(root, "again");
    await commit(dir, { "e.txt": "five\n" });
    const ran = await git(dir, "push", "origin", "main");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("rejected");
    expect(await alice.call("repo.refs", { repo: "alice/work" })).toMatchObject({ heads: { main: head } });
  });

  test("only passwords and user tokens of the account are accepted", async () => {
    await ok(root, "ls-remote", at("alice/work", "alice", ALICE.password));
    await ok(root, "ls-remote", at("alice/work", "root"));
    const wrong = await git(root, "ls-remote", at("alice/work", "alice", "wrong"));
    expect(wrong.code).toBe(128);
    expect(wrong.err).toContain("Authentication failed");
    const anonymous = await get("alice/work");
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get("www-authenticate")).toBe('Basic realm="gsv"');
    // Another user's token under the own name, a node token, and nonsense.
    expect((await get("alice/work", basic("bob", tokens.alice))).status).toBe(401);
    const { token } = await alice.call("sys.token.create", { kind: "node" });
    expect((await get("alice/work", basic("alice", token.token))).status).toBe(401);
    expect((await get("alice/work", { authorization: "Basic !!" })).status).toBe(401);
    expect((await get("alice/work", { authorization: "Bearer x" })).status).toBe(401);
  });

  test("a push in progress when its token is revoked changes nothing", async () => {
    const repo = "alice/revoked";
    await alice.call("repo.create", { repo });
    await alice.call("repo.create", { repo, ref: "draft" });
    const { heads } = await alice.call("repo.refs", { repo });
    const push = async (revoke: boolean) => {
      const { token } = await alice.call("sys.token.create", { kind: "user" });
      const line = `${heads.draft} ${"0".repeat(40)} refs/heads/draft\0report-status`;
      const body = `${(line.length + 4).toString(16).padStart(4, "0")}${line}0000`;
      const headers = { ...basic("alice", token.token), "content-type": "application/x-git-receive-pack-request" };
      const pushing = request(`${host.url}/git/${repo}/git-receive-pack`, { method: "POST", headers });
      const done = new Promise((resolve) => {
        pushing.on("error", resolve);
        pushing.on("response", (response) => response.resume().on("close", resolve));
      });
      pushing.write(body.slice(0, 20));
      // The gateway has authenticated the push.
      const lastUsedAt = async () =>
        (await alice.call("sys.token.list", {})).tokens.find(({ tokenId }) => tokenId === token.tokenId)!.lastUsedAt;
      await expect.poll(lastUsedAt).not.toBeNull();
      if (revoke) await alice.call("sys.token.revoke", { tokenId: token.tokenId });
      pushing.end(body.slice(20));
      await done;
      return Object.keys((await alice.call("repo.refs", { repo })).heads);
    };
    expect(await push(true)).toEqual(["draft", "main"]);
    expect(await push(false)).toEqual(["main"]);
  });

  test("a private repository answers others exactly like an absent one", async () => {
    for (const service of ["git-upload-pack", "git-receive-pack"]) {
      const present = await get("alice/work", basic("bob"), service);
      const absent = await get("alice/none", basic("bob"), service);
      expect(present.status).toBe(404);
      expect(absent).toEqual({ ...present, text: present.text.replace("work", "none"), headers: absent.headers });
      const [one, two] = [await get("alice/work", {}, service), await get("alice/none", {}, service)];
      expect([one.status, one.text]).toEqual([two.status, two.text]);
    }
    const ran = await git(root, "clone", at("alice/work", "bob"), "stolen");
    expect(ran.code).toBe(128);
    expect((await get("../alice/work", basic("bob"))).status).toBe(404);
    expect((await get("alice/..", basic("bob"))).status).toBe(404);
  });

  test("everybody can read a public repository, and only its owner can write it", async () => {
    await alice.call("repo.create", { repo: "alice/open", public: true });
    await ok(root, "clone", "-q", at("alice/open"), "open");
    const dir = join(root, "open");
    await commit(dir, { x: "x\n" });
    expect((await git(dir, "push", "origin", "main")).err).toMatch(/could not read Username|Authentication/);
    const refused = await git(dir, "push", at("alice/open", "bob"), "main");
    expect(refused.err).toContain("403");
    await ok(dir, "push", "-q", at("alice/open", "alice"), "main");
    await alice.call("repo.update", { repo: "alice/open", public: false });
    expect((await get("alice/open")).status).toBe(401);
  });

  test("a push does not create a repository; the home repository exists from the start", async () => {
    const dir = join(root, "open");
    const ran = await git(dir, "push", at("alice/new", "alice"), "main");
    expect(ran.code).not.toBe(0);
    expect(ran.err).toContain("not found");
    expect((await get("alice/new", basic("alice"), "git-receive-pack")).text).toContain("gsv repo create alice/new");
    await ok(root, "clone", "-q", at("bob/home", "bob"), "home");
    await commit(join(root, "home"), { "knowledge/cats.md": "They purr.\n" }, "learn");
    await ok(join(root, "home"), "push", "-q");
    expect(await bob.call("repo.read", { repo: "bob/home", path: "knowledge/cats.md" })).toMatchObject({ content: "They purr.\n" });
  });

  test("clone and push need the capability", async () => {
    const { user } = await admin.call("sys.user.create", { username: "carol", password: "long enough" });
    await admin.call("sys.group.members", { gid: 100, members: ["alice", "bob"] });
    const { token } = await admin.call("sys.token.create", { kind: "user", uid: user.uid });
    expect(await get("carol/home", basic("carol", token.token))).toMatchObject({ status: 403, text: "Permission denied: repo.read\n" });
    expect(await get("carol/home", basic("carol", token.token), "git-receive-pack")).toMatchObject({
      status: 403,
      text: "Permission denied: repo.apply\n",
    });
  });

  test("a push updates the kernel's lists", async () => {
    const { workspace, repo } = await alice.call("sys.workspace.create", { label: "pushed to" });
    await ok(root, "clone", "-q", at(repo, "alice"), "ws");
    const head = await commit(join(root, "ws"), { "x.txt": "x\n" });
    await ok(join(root, "ws"), "push", "-q");
    const { workspaces } = await alice.call("sys.workspace.list", {});
    expect(workspaces[0]).toMatchObject({ workspaceId: workspace.workspaceId, headCommit: head });
    expect(workspaces[0]!.updatedAt).toBeGreaterThan(workspace.updatedAt);
  });

  test("interrupted requests leave nothing behind and block nobody", async () => {
    const { heads } = await alice.call("repo.refs", { repo: "alice/big" });
    const line = `${"0".repeat(40)} ${"1".repeat(40)} refs/heads/cut\0report-status\n`;
    const push = `${(line.length + 4).toString(16).padStart(4, "0")}${line}0000PACK`;
    for (let at = 0; at < 10; at++) {
      await disconnect("git-upload-pack", `0032want ${heads.main}\n00000009done\n`, true);
      await disconnect("git-receive-pack", push, false);
    }
    expect((await alice.call("repo.refs", { repo: "alice/big" })).heads).toEqual(heads);
    expect((await get("alice/big", basic("alice"))).status).toBe(200);
  });

  /** Disconnects as soon as an answer starts, or in the middle of the request. */
  function disconnect(service: string, body: string, isWhole: boolean): Promise<void> {
    return new Promise((resolve) => {
      const headers = { ...basic("alice"), "content-type": `application/x-${service}-request` };
      const exchange = request(`${host.url}/git/alice/big/${service}`, { method: "POST", headers }, (response) =>
        response.once("data", () => exchange.destroy()).on("error", () => {}),
      );
      exchange.on("error", () => {}).on("close", resolve);
      // Requests are accepted in order: once a later one is answered, this one is in progress.
      exchange.write(body, () => isWhole || void get("alice/big", basic("alice")).then(() => exchange.destroy()));
      if (isWhole) exchange.end();
    });
  }

  test("an import ends with the socket that requested it", async () => {
    let onRequest!: () => void;
    let onClose!: () => void;
    const [requested, closed] = [
      new Promise<void>((resolve) => (onRequest = resolve)),
      new Promise<void>((resolve) => (onClose = resolve)),
    ];
    // Starts an answer and never finishes it.
    const remote = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" });
      response.write("001e# service=git-upload-pack\n0000");
      response.once("close", onClose);
      onRequest();
    });
    await new Promise<void>((resolve) => remote.listen(0, "127.0.0.1", resolve));
    const { port } = remote.address() as AddressInfo;
    await admin.call("sys.config.set", { key: "config/net/allowed_hosts", value: `127.0.0.1:${port}` });
    const client = await enter(host, { username: "alice", token: tokens.alice! });
    const importing = client.call("repo.import", { repo: "alice/imported", remoteUrl: `http://127.0.0.1:${port}/x.git` });
    importing.catch(() => {});
    await requested;
    client.close();
    await closed;
    remote.close();
    expect(await alice.call("repo.refs", { repo: "alice/imported" })).toMatchObject({ heads: {} });
  });

  test("gives the same refs and exit codes as stock git's server", async () => {
    const stock = await stockServer(root);
    try {
      await ok(root, "init", "-q", "--bare", "stock.git");
      await ok(join(root, "stock.git"), "config", "http.receivepack", "true");
      await alice.call("repo.create", { repo: "alice/script" });
      // Our repository starts with a commit, stock's with none: both are brought to the same state.
      await ok(root, "init", "-q", "seed");
      await commit(join(root, "seed"), { seed: "seed\n" }, "seed");
      const run = async (url: string, name: string) => {
        const codes: number[] = [];
        const dir = join(root, name);
        const step = async (cwd: string, ...args: string[]) => void codes.push((await git(cwd, ...args)).code);
        await step(join(root, "seed"), "push", "-q", "-f", url, "main");
        await step(root, "clone", "-q", url, name);
        await commit(dir, { a: "1\n" }, "one");
        await step(dir, "push", "-q", "origin", "main", "main:refs/heads/topic");
        await step(dir, "tag", "-a", "t", "-m", "t");
        await step(dir, "push", "-q", "origin", "--tags");
        await step(dir, "reset", "-q", "--hard", "HEAD~1");
        await commit(dir, { a: "2\n" }, "two");
        await step(dir, "push", "-q", "origin", "main");
        await step(dir, "push", "-q", "--force-with-lease", "origin", "main");
        await step(dir, "push", "-q", "origin", ":topic");
        await step(dir, "push", "-q", "origin", ":main");
        await step(dir, "push", "-q", "--atomic", "origin", "main:x", "main:refs/heads/x/y");
        await step(dir, "fetch", "-q", "origin", "nothing");
        await step(dir, "fetch", "-q", "--depth", "1", "origin", "main");
        await step(dir, "fsck", "--strict", "--no-progress");
        writeFileSync(join(dir, "done"), "");
        const refs = await ok(root, "ls-remote", url);
        return { codes, refs };
      };
      const theirs = await run(`${stock.url}/stock.git`, "theirs");
      expect(await run(at("alice/script", "alice"), "ours")).toEqual(theirs);
    } finally {
      stock.close();
    }
  }, 60_000);
});
