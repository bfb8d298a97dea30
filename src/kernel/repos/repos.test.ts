// The kernel's side of repositories: first files, the copy of heads, and files for mounts.

import { beforeEach, describe, expect, test } from "vitest";
import { MemoryActors, memoryCrypto, memoryLog, memoryNet, MemorySql, Random } from "../../../test/support/memory-ports.ts";
import type { Actors } from "../../ports/actors.ts";
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
let actors: MemoryActors;
let asked: string[];
let now: number;
let nouns: { repositories: Repositories; workspaces: Workspaces; accounts: Accounts; usage: Usage; quotas: Quotas };
let settings: Map<string, string>;
let repos: Repos;
let fails: boolean;

beforeEach(() => {
  sql = new MemorySql();
  migrate(sql);
  actors = new MemoryActors();
  asked = [];
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
  repos = life();
});

/** What a start of the kernel makes; the actors live on. */
function life(): Repos {
  const context = Object.defineProperty({ ...nouns }, "now", { get: () => now });
  const listening: Actors = {
    call(address, name, args, http) {
      asked.push(`${name} ${address}`);
      return actors.call(address, name, args, http);
    },
    fetch: (address, request) => actors.fetch(address, request),
  };
  const ports = { actors: listening, net: memoryNet(), log: memoryLog() };
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

test("a user has few imports under way at once, and the next when one has ended", async () => {
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
  test("are made on first use, once, also where a crash came between the actor and the row", async () => {
    const home = nouns.repositories.get("root/home")!;
    fails = true;
    expect(await repos.ask(home, "read", {})).toMatchObject({ kind: "tree" });
    expect(nouns.repositories.get("root/home")).toMatchObject({ isScaffolded: false, head: null });
    fails = false;
    repos = life();
    const log = await repos.ask(home, "log", {});
    expect(log.entries.map(({ message }) => message)).toEqual(["gsv: scaffold home knowledge"]);
    expect(nouns.repositories.get("root/home")).toMatchObject({ isScaffolded: true, head: log.entries[0]!.hash });
    asked = [];
    await repos.ask(nouns.repositories.get("root/home")!, "refs", {});
    expect(asked).toEqual(["refs repo:root/home"]);
  });
});

describe("the copy of heads", () => {
  test("follows what is written, and a new life asks once before it believes it", async () => {
    const workspace = nouns.workspaces.create(0, null, "thread", now);
    const row = nouns.repositories.makeWorkspace("root", workspace.workspaceId, now);
    now += 1000;
    const author = { name: "root", email: "root@gsv.local" };
    const { head } = await repos.change(row, "apply", { message: "m", ops: [{ type: "put", path: "a", content: "1" }], author, now });
    expect(nouns.repositories.get(row.repo)).toMatchObject({ head, updatedAt: now });
    expect(nouns.workspaces.get(workspace.workspaceId)).toMatchObject({ updatedAt: now });
    // Lost with a batch.
    nouns.repositories.seen(row.repo, { defaultBranch: "main", head: null, bytes: 0 });
    expect(await repos.present([row])).toMatchObject([{ head: null }]);
    repos = life();
    expect(await repos.present([row])).toMatchObject([{ head }]);
    asked = [];
    await repos.present([row]);
    expect(asked).toEqual([]);
    repos.rolledBack();
    await repos.present([nouns.repositories.get(row.repo)!]);
    expect(asked).toEqual([`state repo:${row.repo}`]);
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
    await files.change(repo, "gsv: write knowledge/a.md", "root", [{ type: "put", path: "knowledge/a.md", content: bytes("one") }]);
    const stat = (await files.stat(repo, "knowledge/a.md"))!;
    expect(stat).toMatchObject({ kind: "file", size: 3, modifiedAt: now });
    expect(await files.read(repo, "knowledge/a.md")).toMatchObject({ oid: stat.oid });
    await files.change(repo, "move", "root <root@gsv.internal>", [{ type: "move", from: "knowledge/a.md", to: "knowledge/b.md" }]);
    expect(text(await files.read(repo, "knowledge/b.md"))).toBe("one");
    await files.change(repo, "rm", "root", [{ type: "delete", path: "knowledge" }]);
    expect(await files.list(repo, "knowledge")).toBeNull();
    const { entries } = await repos.ask(nouns.repositories.get(repo)!, "log", { limit: 2 });
    expect(entries).toMatchObject([
      { message: "rm", authorEmail: "root@gsv.local" },
      { message: "move", author: "root", authorEmail: "root@gsv.internal" },
    ]);
  });

  test("are written only over the blob that was read", async () => {
    const { files } = repos;
    const put = (content: string, ifOid?: string) =>
      files.change("root/home", "write", "root", [
        { type: "put", path: "a", content: bytes(content), ...(ifOid === undefined ? {} : { ifOid }) },
      ]);
    await put("one");
    const { oid } = (await files.read("root/home", "a"))!;
    await put("two", oid);
    await expect(put("three", oid)).rejects.toMatchObject({ code: 409, details: { expected: oid } });
    await expect(
      files.change("root/home", "write", "root", [{ type: "put", path: "new", content: bytes("x"), ifOid: oid }]),
    ).rejects.toMatchObject({ code: 409 });
    expect(text(await files.read("root/home", "a"))).toBe("two");
  });

  test("are not there where there is no repository, no path, or something of another kind", async () => {
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
    await expect(files.change("root/none", "m", "root", [])).rejects.toMatchObject({ code: 404 });
  });
});

describe("quotas", () => {
  const author = { name: "ann", email: "ann@gsv.local" };
  const text = (bytes: number) =>
    Array.from({ length: bytes / 8 }, (_, at) => (at * 2654435761).toString(36).padEnd(8).slice(0, 8)).join("");
  const put = (row: RepositoryRow, path: string, content: string) =>
    repos.change(row, "apply", { message: "m", ops: [{ type: "put", path, content }], author, now });

  function annsRepo(name: string): RepositoryRow {
    if (nouns.accounts.byName("ann") === undefined) nouns.accounts.add({ username: "ann", hash: "!" }, now);
    return nouns.repositories.make(`ann/${name}`, {}, now);
  }

  test("count what repositories of one owner hold, and refuse what does not fit before it is kept", async () => {
    const [one, two] = [annsRepo("one"), annsRepo("two")];
    const { uid } = nouns.accounts.byName("ann")!;
    settings.set(`config/files/user_quota_bytes/${uid}`, "100000");
    await put(one, "a", text(60_000));
    const used = nouns.usage.of(uid);
    expect(used).toBeGreaterThan(10_000);
    expect(nouns.repositories.get("ann/one")).toMatchObject({ bytes: used });
    settings.set(`config/files/user_quota_bytes/${uid}`, String(used + 5_000));
    await expect(put(two, "a", text(60_000))).rejects.toThrow("Quota exceeded: ann uses ");
    expect(await repos.ask(two, "refs", {})).toMatchObject({ heads: {} });
    expect(nouns.usage.of(uid)).toBeLessThan(used + 2_000);
    await put(two, "a", "small");
    expect(nouns.usage.of(uid)).toBeGreaterThan(used);
  });

  test("do not keep anybody from deleting", async () => {
    const row = annsRepo("one");
    const { uid } = nouns.accounts.byName("ann")!;
    await put(row, "a", "1");
    await put(row, "b", "2");
    settings.set("config/files/quota_bytes", "0");
    await expect(put(row, "c", "3")).rejects.toThrow("Quota exceeded");
    await repos.change(row, "apply", { message: "m", ops: [{ type: "delete", path: "a" }], author, now });
    expect(await repos.files.change(row.repo, "rm", "ann", [{ type: "delete", path: "b" }])).toBe(true);
    await expect(repos.files.change(row.repo, "w", "ann", [{ type: "put", path: "b", content: new Uint8Array(1) }])).rejects.toThrow(
      "Quota",
    );
    settings.set(`config/files/user_quota_bytes/${uid}`, "unlimited");
    await put(row, "c", "3");
  });

  test("let deletions go beyond by so much in all, not each by so much", async () => {
    const row = annsRepo("one");
    const { uid } = nouns.accounts.byName("ann")!;
    await put(row, "a", "1");
    await put(row, "b", "2");
    const remove = (path: string) => repos.change(row, "apply", { message: "m", ops: [{ type: "delete", path }], author, now });
    settings.set("config/files/quota_bytes", "0");
    const beyond = (bytes: number) => nouns.usage.filesChanged(uid, bytes - nouns.usage.of(uid));
    beyond(16 * 1024 * 1024);
    await expect(remove("a")).rejects.toThrow("Quota exceeded");
    beyond(15 * 1024 * 1024);
    await remove("a");
  });

  test("count an empty file that is new like any other, and one that keeps a directory as part of the deletion", async () => {
    const row = annsRepo("one");
    await put(row, "d/a", "1");
    settings.set("config/files/quota_bytes", "0");
    const empty = (path: string) => ({ type: "put" as const, path, content: new Uint8Array() });
    await expect(repos.files.change(row.repo, "touch", "ann", [empty("new")])).rejects.toThrow("Quota exceeded");
    expect(await repos.files.change(row.repo, "rm", "ann", [{ type: "delete", path: "d/a" }, empty("d/.dir")])).toBe(true);
  });

  /** Lets calls that come together overlap: none has ended when the last is asked. */
  function slowly(): void {
    const call = actors.call.bind(actors);
    actors.call = async (address, name, args, http) => {
      for (let turns = 0; turns < 20; turns++) await Promise.resolve();
      return call(address, name, args, http);
    };
  }
  const outcomes = async (work: Promise<unknown>[]) =>
    (await Promise.allSettled(work)).filter(({ status }) => status === "fulfilled").length;

  test("count changes that are under way, whichever way they come", async () => {
    const rows = Array.from({ length: 6 }, (_, at) => annsRepo(`r${at}`));
    const { uid } = nouns.accounts.byName("ann")!;
    await put(annsRepo("measured"), "a", text(96_000));
    const cost = nouns.usage.of(uid);
    await repos.present(rows);
    const limit = nouns.usage.of(uid) + cost + 5_000;
    settings.set("config/files/quota_bytes", String(limit));
    slowly();
    const content = bytes(text(96_000));
    const work = rows.map((row, at) =>
      at % 2 === 0 ? put(row, "a", text(96_000)) : repos.files.change(row.repo, "w", "ann", [{ type: "put", path: "a", content }]),
    );
    expect(await outcomes(work)).toBe(1);
    expect(nouns.usage.of(uid)).toBeLessThanOrEqual(limit);
    // What is over is claimed no more, after a refusal as after a success.
    settings.set("config/files/quota_bytes", String(nouns.usage.of(uid) + cost + 5_000));
    await put(rows[5]!, "b", text(96_000));
  });

  test("refuse none of many small changes at once where all of them fit", async () => {
    const rows = Array.from({ length: 6 }, (_, at) => annsRepo(`r${at}`));
    const { uid } = nouns.accounts.byName("ann")!;
    await repos.present(rows);
    settings.set("config/files/quota_bytes", String(nouns.usage.of(uid) + 50_000));
    slowly();
    expect(await outcomes(rows.map((row) => put(row, "a", "small")))).toBe(6);
  });
});
