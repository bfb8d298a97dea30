// The kernel's side of repositories: reaches their actors, makes a home's or a workspace's first files on first use, and
// keeps the kernel's copy of where each branch is. Judges nobody: nouns/repositories.ts says who may.
//
// The copy is a cache on the relaxed lane. A crash may lose it, so each life of the kernel asks once before it believes it.

import { fail } from "../../lib/sys-error.ts";
import type { ActorRequest, ActorResponse } from "../../ports/actors.ts";
import { StorageError } from "../../ports/sql.ts";
import type { RepoArgs, RepoCall, RepoResult, RepoState } from "../../repo/calls.ts";
import type { Quota } from "../../repo/objects.ts";
import type { Person } from "../../repo/commit.ts";
import type { GitChange, GitFiles } from "../../vfs/git-files.ts";
import type { RepositoryRow } from "../nouns/repositories.ts";
import type { Part } from "../part.ts";
import { importHttp } from "./import-http.ts";
import { RepoQuota } from "./repo-quota.ts";
import { homeScaffold, type Scaffold, workspaceScaffold } from "./scaffold.ts";
import type { Store } from "../store.ts";

/** How many are asked at a time. */
const ASKED_AT_ONCE = 8;
/** Each holds a connection for as long as the remote likes, within minutes. */
const IMPORTS_PER_OWNER = 8;

export class Repos implements Part {
  readonly #store: Store;
  /** The owners of what is being imported. */
  readonly #importing: string[] = [];
  readonly #room: RepoQuota;
  /** Those whose copy was checked in this life. */
  readonly #checked = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
    this.#room = new RepoQuota(store.reads, (row) => this.#check(row));
  }

  /** Something of a repository that changes nothing in it. */
  async ask<N extends RepoCall>(row: RepositoryRow, name: N, args: RepoArgs<N>): Promise<RepoResult<N>> {
    await this.#ready(row);
    return (await this.#store.ports.actors.call(addressOf(row), name, args)) as RepoResult<N>;
  }

  /**
   * A repository keeps what it is told whatever becomes of the kernel's batch. The row that names it may have been made by
   * another call of this turn, so it is on disk first: a yes about a repository that nobody can find is none.
   */
  async change<N extends "create" | "apply">(row: RepositoryRow, name: N, args: RepoArgs<N>): Promise<RepoResult<N>> {
    await this.#store.durable();
    const ops = "ops" in args ? args.ops : [];
    return this.#room.within(row, ops, (quota) => this.#changed(row, this.ask(row, name, { ...args, quota })));
  }

  /** Ends with the signal. */
  async import(row: RepositoryRow, args: RepoArgs<"import">, signal: AbortSignal): Promise<RepoResult<"import">> {
    if (this.#importing.filter((owner) => owner === row.owner).length >= IMPORTS_PER_OWNER)
      fail(429, `Too many imports at once: ${row.owner} has ${IMPORTS_PER_OWNER} under way, wait for one of them`);
    this.#importing.push(row.owner);
    try {
      await this.#store.durable();
      await this.#ready(row);
      const http = importHttp(this.#store.ports.net, signal);
      return await this.#room.arrives(row, async (quota) => {
        const asked = this.#store.ports.actors.call(addressOf(row), "import", { ...args, quota }, http);
        const result = (await asked) as RepoResult<"import">;
        this.#keep(row, result.state, result.changed);
        return result;
      });
    } finally {
      this.#importing.splice(this.#importing.indexOf(row.owner), 1);
    }
  }

  async fetch(row: RepositoryRow, request: ActorRequest): Promise<ActorResponse> {
    await this.#store.durable();
    await this.#ready(row);
    const isPush = request.method === "POST" && request.access.write;
    if (!isPush) return this.#store.ports.actors.fetch(addressOf(row), request);
    return this.#room.arrives(row, async (quota) => {
      const response = await this.#store.ports.actors.fetch(addressOf(row), { ...request, access: { ...request.access, quota } });
      // What was refused has left nothing behind, and may have been counted while it arrived.
      if (response.changed === null) await this.#check(row);
      else this.#keep(row, response.changed as RepoState, true);
      return response;
    });
  }

  /** Asks those that have not said yet how much they hold. */
  async measure(): Promise<void> {
    for (const row of this.#store.reads.repositories.unmeasured()) await this.#check(row);
  }

  /** With their first files, and with the copy of their heads as it is now. */
  async present(rows: readonly RepositoryRow[]): Promise<RepositoryRow[]> {
    const left = rows.filter((row) => !this.#checked.has(row.repo));
    const next = async () => {
      for (let row = left.pop(); row !== undefined; row = left.pop()) await this.#check(row);
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, next));
    return rows.map((row) => this.#store.reads.repositories.get(row.repo) ?? row);
  }

  /** The copies went with the batch. */
  rolledBack(): void {
    this.#checked.clear();
  }

  readonly files: GitFiles = {
    stat: async (repo, path) => this.#inside(repo, null, (row) => this.ask(row, "fileStat", { path })),
    list: async (repo, path) => this.#inside(repo, null, (row) => this.ask(row, "fileList", { path })),
    read: async (repo, path) => this.#inside(repo, null, (row) => this.ask(row, "fileRead", { path })),
    heads: async (repo, paths, bytes) =>
      this.#inside(
        repo,
        paths.map(() => null),
        (row) => this.ask(row, "fileHeads", { paths, bytes }),
      ),
    change: async (repo, message, author, changes) => {
      const row = this.#store.reads.repositories.toRead({ uid: 0, username: "root" }, repo);
      await this.#store.durable();
      const request = { message, ops: changes.map(opOf), author: personOf(author), now: this.#now };
      const asked = (quota: Quota | null) => this.#changed(row, this.ask(row, "fileChange", { ...request, quota }));
      return (await this.#room.within(row, request.ops, asked)).changed;
    },
  };

  /** One that cannot be asked must not keep the others from being listed. */
  async #check(row: RepositoryRow): Promise<void> {
    try {
      this.#keep(row, await this.ask(row, "state", {}), false);
    } catch (error) {
      this.#store.ports.log.error("a repository does not answer", { repo: row.repo, error: String(error) });
    }
  }

  get #now(): number {
    return this.#store.reads.now;
  }

  #inside<T>(repo: string, absent: T, body: (row: RepositoryRow) => Promise<T>): Promise<T> | T {
    const row = this.#store.reads.repositories.get(repo);
    return row === undefined ? absent : body(row);
  }

  /** Doing it twice changes nothing, so a crash on the way costs nothing either. */
  async #ready(row: RepositoryRow): Promise<void> {
    if (row.isScaffolded || this.#checked.has(row.repo)) return;
    const scaffold = this.#scaffoldOf(row);
    if (scaffold === null) return;
    const state = await this.#store.ports.actors.call(addressOf(row), "scaffold", {
      ...scaffold,
      author: personOf(row.owner),
      now: this.#now,
    });
    this.#keep(row, state as RepoState, false);
  }

  #scaffoldOf({ kind, owner, name }: RepositoryRow): Scaffold | null {
    if (kind === "home") return homeScaffold(owner);
    const workspace = kind === "workspace" ? this.#store.reads.workspaces.get(name) : undefined;
    return workspace === undefined ? null : workspaceScaffold(workspace, owner);
  }

  async #changed<T extends { state: RepoState }>(row: RepositoryRow, asked: Promise<T>): Promise<T> {
    const result = await asked;
    this.#keep(row, result.state, true);
    return result;
  }

  #keep(row: RepositoryRow, state: RepoState, isChange: boolean): void {
    try {
      this.#store.relaxed(({ repositories, workspaces, now }) => {
        repositories.seen(row.repo, state);
        if (!isChange) return;
        repositories.touched(row.repo, now);
        if (row.kind === "workspace") workspaces.touched(row.name, now);
      });
      this.#checked.add(row.repo);
    } catch (error) {
      // What the repository has said yes to is on disk there, whether or not there is room for the copy here.
      if (!(error instanceof StorageError)) throw error;
      this.#checked.delete(row.repo);
      this.#store.ports.log.error("storage failed", { error: error.message });
    }
  }
}

export function personOf(author: string): Person {
  const match = /^(.+) <([^<>]+)>$/.exec(author);
  return match === null ? { name: author, email: `${author}@gsv.local` } : { name: match[1]!, email: match[2]! };
}

function addressOf({ repo }: RepositoryRow): string {
  return `repo:${repo}`;
}

function opOf(change: GitChange): RepoArgs<"fileChange">["ops"][number] {
  switch (change.type) {
    case "put":
      return { type: "put", path: change.path, bytes: change.content, ifOid: change.ifOid };
    case "delete":
      return { type: "delete", path: change.path, recursive: true };
    case "move":
      return change;
  }
}
