// The kernel's side of repositories: first files, the copy of heads, files for mounts, and quotas.

import { beforeEach, describe, expect, test } from "vitest";
import { memoryCrypto, memoryLog, memoryNet, MemoryRepositories, MemorySql, Random } from "../../../test/support/memory-ports.ts";
import type { RepositoryActors } from "../../ports/actors.ts";
import { StorageError } from "../../ports/sql.ts";
import { fakeStore } from "../../../test/support/fake-store.ts";
import type { WriteContext } from "../context.ts";
import { Accounts } from "../nouns/accounts.ts";
import { Groups } from "../nouns/groups.ts";
import { Repositories, type RepositoryRow } from "../nouns/repositories.ts";
import { Workspaces } from "../nouns/workspaces.ts";
import { Repos } from "./repos.ts";
import { migrate } from "../schema/migrate.ts";
import { Usage } from "../nouns/usage.ts";
import { Quotas } from "../files/quotas.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (read: { bytes: Uint8Array } | null) => (read === null ? null : new TextDecoder().decode(read.bytes));

let sql: MemorySql;
let actors: MemoryRepositories;
let calls: string[];
let now: number;
let nouns: { repositories: Repositories; workspaces: Workspaces; accounts: Accounts; usage: Usage; quotas: Quotas };
let settings: Map<string, string>;
let repos: Repos;
let fails: boolean;

beforeEach(() => {
  sql = new MemorySql();
  migrate(sql);
  actors = new MemoryRepositories();
  calls = [];
  now = 1_763_200_000_000;
  fails = false;
  const accounts = new Accounts(sql, new Groups(sql));
  const usage = new Usage(sql);
  settings = new Map();
  nouns = {
    accounts,
    usage,
    quotas: new Quotas(settings, accounts, usage, null),
    repositories: new Repositories(sql, accounts, usage),
    workspaces: new Workspaces(
      sql,
      memoryCrypto(new Random("repos"), (value) => Promise.resolve(value)),
    ),
  };
  repos = restart();
});

/** A restart of the kernel; the actors keep running. */
function restart(): Repos {
  const context = Object.defineProperty({ ...nouns }, "now", { get: () => now });
  const recording: RepositoryActors = {
    call(address, name, args, http) {
      calls.push(`${name} ${address}`);
      return actors.call(address, name, args, http);
    },
    fetch: (address, request) => actors.fetch(address, request),
  };
  const ports = { repositories: recording, net: memoryNet(), log: memoryLog() };
  return new Repos(
    fakeStore(context, {
      ports,
      relaxed(body) {
        if (fails) throw new StorageError(true, null);
        return body(context as unknown as WriteContext);
      },
    }),
  );
}

test("a user may run only a few imports at once, and another one once one has ended", async () => {
  const ends: (() => void)[] = [];
  actors.call = () => new Promise((_, reject) => ends.push(() => reject(new Error("ended"))));
  const row = { ...nouns.repositories.get("root/home")!, isScaffolded: true };
  const start = () => repos.import(row, { remoteUrl: "https://git.example/x" }, new AbortController().signal).catch(String);
  const running = Array.from({ length: 8 }, start);
  expect(await start()).toContain("Too many imports at once");
  await expect.poll(() => ends.length).toBe(8);
  ends[0]!();
  expect(await running[0]).toContain("ended");
  const next = start();
  await expect.poll(() => ends.length).toBe(9);
  for (const end of ends.slice(1)) end();
  await Promise.all(running);
  ends.at(-1)!();
  expect(await next).toContain("ended");
});

describe("first files", () => {
  test("are created on first use, only once, even if a crash happens between the actor and the row", async () => {
    const home = nouns.repositories.get("root/home")!;
    fails = true;
    expect(await repos.ask(home, "read", {})).toMatchObject({ kind: "tree" });
    expect(nouns.repositories.get("root/home")).toMatchObject({ isScaffolded: false, head: null });
    fails = false;
    repos = restart();
    const log = await repos.ask(home, "log", {});
    expect(log.entries.map(({ message }) => message)).toEqual(["gsv: scaffold home knowledge"]);
    expect(nouns.repositories.get("root/home")).toMatchObject({ isScaffolded: true, head: log.entries[0]!.hash });
    calls = [];
    await repos.ask(nouns.repositories.get("root/home")!, "refs", {});
    expect(calls).toEqual(["refs repo:root/home"]);
  });
});

describe("the copy of heads", () => {
  test("follows writes, and is checked once after a restart before it is trusted", async () => {
    const workspace = nouns.workspaces.make(0, null, "thread", now);
    const row = nouns.repositories.makeWorkspace("root", workspace.workspaceId, now);
    now += 1000;
    const author = { name: "root", email: "root@gsv.local" };
    const { head } = await repos.change(row, "apply", { message: "m", ops: [{ type: "put", path: "a", content: "1" }], author, now });
    expect(nouns.repositories.get(row.repo)).toMatchObject({ head, updatedAt: now });
    expect(nouns.workspaces.get(workspace.workspaceId)).toMatchObject({ updatedAt: now });
    // As if the update had been lost with a batch.
    nouns.repositories.recordState(row.repo, { defaultBranch: "main", head: null, bytes: 0 });
    expect(await repos.refresh([row])).toMatchObject([{ head: null }]);
    repos = restart();
    expect(await repos.refresh([row])).toMatchObject([{ head }]);
    calls = [];
    await repos.refresh([row]);
    expect(calls).toEqual([]);
    repos.onRollback();
    await repos.refresh([nouns.repositories.get(row.repo)!]);
    expect(calls).toEqual([`state repo:${row.repo}`]);
  });
});

describe("files for mounts", () => {
  test("are read, listed and changed on the default branch", async () => {
    const { files } = repos;
    const repo = "root/home";
    expect(await files.stat(repo, "")).toMatchObject({ kind: "directory" });
    expect(await files.list(repo, "")).toEqual([
      { name: "context.d", kind: "directory" },
      { name: "knowledge", kind: "directory" },
      { name: "skills.d", kind: "directory" },
    ]);
    now += 5000;
    await files.commitChanges(repo, "gsv: write knowledge/a.md", "root", [{ type: "put", path: "knowledge/a.md", content: bytes("one") }]);
    const stat = (await files.stat(repo, "knowledge/a.md"))!;
    expect(stat).toMatchObject({ kind: "file", size: 3, modifiedAt: now });
    expect(await files.read(repo, "knowledge/a.md")).toMatchObject({ oid: stat.oid });
    await files.commitChanges(repo, "move", "root <root@gsv.internal>", [{ type: "move", from: "knowledge/a.md", to: "knowledge/b.md" }]);
    expect(text(await files.read(repo, "knowledge/b.md"))).toBe("one");
    await files.commitChanges(repo, "rm", "root", [{ type: "delete", path: "knowledge" }]);
    expect(await files.list(repo, "knowledge")).toBeNull();
    const { entries } = await repos.ask(nouns.repositories.get(repo)!, "log", { limit: 2 });
    expect(entries).toMatchObject([
      { message: "rm", authorEmail: "root@gsv.local" },
      { message: "move", author: "root", authorEmail: "root@gsv.internal" },
    ]);
  });

  test("are overwritten only if the blob is still the one that was read", async () => {
    const { files } = repos;
    const put = (content: string, ifOid?: string) =>
      files.commitChanges("root/home", "write", "root", [
        { type: "put", path: "a", content: bytes(content), ...(ifOid === undefined ? {} : { ifOid }) },
      ]);
    await put("one");
    const { oid } = (await files.read("root/home", "a"))!;
    await put("two", oid);
    await expect(put("three", oid)).rejects.toMatchObject({ code: 409, details: { expected: oid } });
    await expect(
      files.commitChanges("root/home", "write", "root", [{ type: "put", path: "new", content: bytes("x"), ifOid: oid }]),
    ).rejects.toMatchObject({ code: 409 });
    expect(text(await files.read("root/home", "a"))).toBe("two");
  });

  test("are absent if there is no such repository or path, or if it is of another kind", async () => {
    const { files } = repos;
    for (const [repo, path] of [
      ["root/none", ""],
      ["root/home", "none"],
      ["root/home", "context.d/10-user.md/x"],
    ] as const) {
      expect(await files.stat(repo, path)).toBeNull();
      expect(await files.list(repo, path)).toBeNull();
      expect(await files.read(repo, path)).toBeNull();
    }
    expect(await files.read("root/home", "knowledge")).toBeNull();
    expect(await files.list("root/home", "context.d/10-user.md")).toBeNull();
    await expect(files.commitChanges("root/none", "m", "root", [])).rejects.toMatchObject({ code: 404 });
  });
});

describe("quotas", () => {
  const author = { name: "ann", email: "ann@gsv.local" };
  const text = (bytes: number) =>
    Array.from({ length: bytes / 8 }, (_, at) => (at * 2654435761).toString(36).padEnd(8).slice(0, 8)).join("");
  const put = (row: RepositoryRow, path: string, content: string) =>
    repos.change(row, "apply", { message: "m", ops: [{ type: "put", path, content }], author, now });

  function annsRepo(name: string): RepositoryRow {
    if (nouns.accounts.findByName("ann") === undefined) nouns.accounts.add({ username: "ann", hash: "!" }, now);
    return nouns.repositories.findOrMake(`ann/${name}`, {}, now);
  }

  test("count all repositories of one owner, and refuse a change that does not fit before it is stored", async () => {
    const [one, two] = [annsRepo("one"), annsRepo("two")];
    const { uid } = nouns.accounts.findByName("ann")!;
    settings.set(`config/files/user_quota_bytes/${uid}`, "100000");
    await put(one, "a", text(60_000));
    const used = nouns.usage.bytesOf(uid);
    expect(used).toBeGreaterThan(10_000);
    expect(nouns.repositories.get("ann/one")).toMatchObject({ bytes: used });
    settings.set(`config/files/user_quota_bytes/${uid}`, String(used + 5_000));
    await expect(put(two, "a", text(60_000))).rejects.toThrow("Quota exceeded: ann uses ");
    expect(await repos.ask(two, "refs", {})).toMatchObject({ heads: {} });
    expect(nouns.usage.bytesOf(uid)).toBeLessThan(used + 2_000);
    await put(two, "a", "small");
    expect(nouns.usage.bytesOf(uid)).toBeGreaterThan(used);
  });

  test("do not prevent deletions", async () => {
    const row = annsRepo("one");
    const { uid } = nouns.accounts.findByName("ann")!;
    await put(row, "a", "1");
    await put(row, "b", "2");
    settings.set("config/files/quota_bytes", "0");
    await expect(put(row, "c", "3")).rejects.toThrow("Quota exceeded");
    await repos.change(row, "apply", { message: "m", ops: [{ type: "delete", path: "a" }], author, now });
    expect(await repos.files.commitChanges(row.repo, "rm", "ann", [{ type: "delete", path: "b" }])).toBe(true);
    await expect(repos.files.commitChanges(row.repo, "w", "ann", [{ type: "put", path: "b", content: new Uint8Array(1) }])).rejects.toThrow(
      "Quota",
    );
    settings.set(`config/files/user_quota_bytes/${uid}`, "unlimited");
    await put(row, "c", "3");
  });

  test("let deletions exceed the quota by a fixed total, not by that much each", async () => {
    const row = annsRepo("one");
    const { uid } = nouns.accounts.findByName("ann")!;
    await put(row, "a", "1");
    await put(row, "b", "2");
    const remove = (path: string) => repos.change(row, "apply", { message: "m", ops: [{ type: "delete", path }], author, now });
    settings.set("config/files/quota_bytes", "0");
    const setUsage = (bytes: number) => nouns.usage.addFileBytes(uid, bytes - nouns.usage.bytesOf(uid));
    setUsage(16 * 1024 * 1024);
    await expect(remove("a")).rejects.toThrow("Quota exceeded");
    setUsage(15 * 1024 * 1024);
    await remove("a");
  });

  test("refuse a new empty file like any other, but allow one that keeps a directory during a deletion", async () => {
    const row = annsRepo("one");
    await put(row, "d/a", "1");
    settings.set("config/files/quota_bytes", "0");
    const empty = (path: string) => ({ type: "put" as const, path, content: new Uint8Array() });
    await expect(repos.files.commitChanges(row.repo, "touch", "ann", [empty("new")])).rejects.toThrow("Quota exceeded");
    expect(await repos.files.commitChanges(row.repo, "rm", "ann", [{ type: "delete", path: "d/a" }, empty("d/.dir")])).toBe(true);
  });

  /** Makes concurrent calls overlap: none has ended when the last one starts. */
  function delayCalls(): void {
    const call = actors.call.bind(actors);
    actors.call = async (address, name, args, http) => {
      for (let turns = 0; turns < 20; turns++) await Promise.resolve();
      return call(address, name, args, http);
    };
  }
  const countFulfilled = async (work: Promise<unknown>[]) =>
    (await Promise.allSettled(work)).filter(({ status }) => status === "fulfilled").length;

  test("count changes that are still running, through every entrance", async () => {
    const rows = Array.from({ length: 6 }, (_, at) => annsRepo(`r${at}`));
    const { uid } = nouns.accounts.findByName("ann")!;
    await put(annsRepo("measured"), "a", text(96_000));
    const cost = nouns.usage.bytesOf(uid);
    await repos.refresh(rows);
    const limit = nouns.usage.bytesOf(uid) + cost + 5_000;
    settings.set("config/files/quota_bytes", String(limit));
    delayCalls();
    const content = bytes(text(96_000));
    const work = rows.map((row, at) =>
      at % 2 === 0 ? put(row, "a", text(96_000)) : repos.files.commitChanges(row.repo, "w", "ann", [{ type: "put", path: "a", content }]),
    );
    expect(await countFulfilled(work)).toBe(1);
    expect(nouns.usage.bytesOf(uid)).toBeLessThanOrEqual(limit);
    // A finished change releases its claim, whether it was refused or succeeded.
    settings.set("config/files/quota_bytes", String(nouns.usage.bytesOf(uid) + cost + 5_000));
    await put(rows[5]!, "b", text(96_000));
  });

  test("refuse none of many concurrent small changes if all of them fit", async () => {
    const rows = Array.from({ length: 6 }, (_, at) => annsRepo(`r${at}`));
    const { uid } = nouns.accounts.findByName("ann")!;
    await repos.refresh(rows);
    settings.set("config/files/quota_bytes", String(nouns.usage.bytesOf(uid) + 50_000));
    delayCalls();
    expect(await countFulfilled(rows.map((row) => put(row, "a", "small")))).toBe(6);
  });
});
