// The kernel's side of repositories: calls their actors, creates the first files of a home or workspace on first use, and keeps the
// kernel's copy of each repository's state (default branch, head, size). Checks no rights: nouns/repositories.ts does.
//
// The copy is a cache on the relaxed lane. A crash may lose updates, so after each start the kernel asks a repository once before it
// trusts its copy.

import { fail } from "../../lib/sys-error.ts";
import type { ActorRequest, ActorResponse } from "../../ports/actors.ts";
import { StorageError } from "../../ports/sql.ts";
import type { RepoArgs, RepoCall, RepoResult, RepoState } from "../../repo/calls.ts";
import type { Quota } from "../../repo/objects.ts";
import type { Person } from "../../repo/commit.ts";
import type { GitChange, GitFiles } from "../../vfs/git-files.ts";
import type { RepositoryRow } from "../nouns/repositories.ts";
import type { Part } from "../part.ts";
import { makeImportHttp } from "./import-http.ts";
import { RepoQuota } from "./repo-quota.ts";
import { makeHomeScaffold, type Scaffold, makeWorkspaceScaffold } from "./scaffold.ts";
import type { Store } from "../store.ts";

/** How many repositories `refresh` asks concurrently. */
const CHECKS_AT_ONCE = 8;
/** Each import holds a connection for as long as the remote likes, up to a timeout of minutes. */
const IMPORTS_PER_OWNER = 8;

export class Repos implements Part {
  readonly #store: Store;
  /** The owner of each running import. */
  readonly #importOwners: string[] = [];
  readonly #repoQuota: RepoQuota;
  /** Repositories whose copy was checked since the kernel started. */
  readonly #checked = new Set<string>();
  /** How often each repository may have changed since the kernel started. */
  readonly #generations = new Map<string, number>();

  constructor(store: Store) {
    this.#store = store;
    this.#repoQuota = new RepoQuota(store.reads, (row) => this.#refreshCopy(row));
  }

  /** Changes whenever the repository may have changed, so that what was read from it can be cached. */
  generationOf(repo: string): number {
    return this.#generations.get(repo) ?? 0;
  }

  /** Calls a repository's actor. Other parts use this only for calls that change nothing. */
  async ask<N extends RepoCall>(row: RepositoryRow, name: N, args: RepoArgs<N>): Promise<RepoResult<N>> {
    await this.#ensureScaffold(row);
    return (await this.#store.ports.repositories.call(actorAddressOf(row), name, args)) as RepoResult<N>;
  }

  /**
   * A repository keeps a change even if the kernel's batch is lost. The row that names the repository may be in the open batch, so
   * this waits until it is durable: a change to a repository that nobody can find must not be confirmed.
   */
  async change<N extends "create" | "apply">(row: RepositoryRow, name: N, args: RepoArgs<N>): Promise<RepoResult<N>> {
    await this.#store.durable();
    const ops = "ops" in args ? args.ops : [];
    return this.#repoQuota.runWithinQuota(row, ops, (quota) => this.#recordChange(row, this.ask(row, name, { ...args, quota })));
  }

  /** Runs until the import is done or the signal aborts. */
  async import(row: RepositoryRow, args: RepoArgs<"import">, signal: AbortSignal): Promise<RepoResult<"import">> {
    if (this.#importOwners.filter((owner) => owner === row.owner).length >= IMPORTS_PER_OWNER)
      fail(429, `Too many imports at once: ${row.owner} has ${IMPORTS_PER_OWNER} in progress, wait for one of them`);
    this.#importOwners.push(row.owner);
    try {
      await this.#store.durable();
      await this.#ensureScaffold(row);
      const http = makeImportHttp(this.#store.ports.net, signal);
      return await this.#repoQuota.runPackWithinQuota(row, async (quota) => {
        const pending = this.#store.ports.repositories.call(actorAddressOf(row), "import", { ...args, quota }, http);
        const result = (await pending) as RepoResult<"import">;
        this.#updateCopy(row, result.state, result.changed);
        return result;
      });
    } finally {
      this.#bumpGeneration(row.repo);
      this.#importOwners.splice(this.#importOwners.indexOf(row.owner), 1);
    }
  }

  async forwardRequest(row: RepositoryRow, request: ActorRequest): Promise<ActorResponse> {
    await this.#store.durable();
    await this.#ensureScaffold(row);
    const isPush = request.method === "POST" && request.access.write;
    if (!isPush) return this.#store.ports.repositories.fetch(actorAddressOf(row), request);
    return this.#repoQuota.runPackWithinQuota(row, async (quota) => {
      const pending = this.#store.ports.repositories.fetch(actorAddressOf(row), { ...request, access: { ...request.access, quota } });
      const response = await pending.finally(() => this.#bumpGeneration(row.repo));
      // A refused push leaves nothing behind, but the copy of the size may have counted it while it arrived.
      if (response.changed === null) await this.#refreshCopy(row);
      else this.#updateCopy(row, response.changed as RepoState, true);
      return response;
    });
  }

  /** Asks every repository whose size is not known yet. */
  async measure(): Promise<void> {
    for (const row of this.#store.reads.repositories.listUnmeasured()) await this.#refreshCopy(row);
  }

  /** The same rows with an up-to-date copy of their state; creates first files where they are missing. */
  async refresh(rows: readonly RepositoryRow[]): Promise<RepositoryRow[]> {
    const unchecked = rows.filter((row) => !this.#checked.has(row.repo));
    const refreshRest = async () => {
      for (let row = unchecked.pop(); row !== undefined; row = unchecked.pop()) await this.#refreshCopy(row);
    };
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, refreshRest));
    return rows.map((row) => this.#store.reads.repositories.get(row.repo) ?? row);
  }

  /** Updates of the copies were lost with the batch. */
  onRollback(): void {
    this.#checked.clear();
  }

  readonly files: GitFiles = {
    stat: async (repo, path) => this.#withRow(repo, null, (row) => this.ask(row, "fileStat", { path })),
    list: async (repo, path) => this.#withRow(repo, null, (row) => this.ask(row, "fileList", { path })),
    read: async (repo, path) => this.#withRow(repo, null, (row) => this.ask(row, "fileRead", { path })),
    readFirstBytes: async (repo, paths, bytes) =>
      this.#withRow(
        repo,
        paths.map(() => null),
        (row) => this.ask(row, "fileHeads", { paths, bytes }),
      ),
    commitChanges: async (repo, message, author, changes) => {
      const row = this.#store.reads.repositories.requireReadable({ uid: 0, username: "root" }, repo);
      await this.#store.durable();
      const request = { message, ops: changes.map(toRepoOp), author: personOf(author), now: this.#now };
      const change = (quota: Quota | null) => this.#recordChange(row, this.ask(row, "fileChange", { ...request, quota }));
      return (await this.#repoQuota.runWithinQuota(row, request.ops, change)).changed;
    },
  };

  /** Logs a failure instead of throwing: one repository that fails must not keep the others from being listed. */
  async #refreshCopy(row: RepositoryRow): Promise<void> {
    try {
      this.#updateCopy(row, await this.ask(row, "state", {}), false);
    } catch (error) {
      this.#store.ports.log.error("a repository does not answer", { repo: row.repo, error: String(error) });
    }
  }

  get #now(): number {
    return this.#store.reads.now;
  }

  #withRow<T>(repo: string, absent: T, body: (row: RepositoryRow) => Promise<T>): Promise<T> | T {
    const row = this.#store.reads.repositories.get(repo);
    return row === undefined ? absent : body(row);
  }

  /** Creates the first files if they may be missing. This is idempotent, so a crash in between does no harm. */
  async #ensureScaffold(row: RepositoryRow): Promise<void> {
    if (row.isScaffolded || this.#checked.has(row.repo)) return;
    const scaffold = this.#scaffoldOf(row);
    if (scaffold === null) return;
    const state = await this.#store.ports.repositories.call(actorAddressOf(row), "scaffold", {
      ...scaffold,
      author: personOf(row.owner),
      now: this.#now,
    });
    this.#bumpGeneration(row.repo);
    this.#updateCopy(row, state as RepoState, false);
  }

  #bumpGeneration(repo: string): void {
    this.#generations.set(repo, this.generationOf(repo) + 1);
  }

  #scaffoldOf({ kind, owner, name }: RepositoryRow): Scaffold | null {
    if (kind === "home") return makeHomeScaffold(owner);
    const workspace = kind === "workspace" ? this.#store.reads.workspaces.get(name) : undefined;
    return workspace === undefined ? null : makeWorkspaceScaffold(workspace, owner);
  }

  async #recordChange<T extends { state: RepoState }>(row: RepositoryRow, pending: Promise<T>): Promise<T> {
    // Also after a failure: the actor may have failed after the change.
    const result = await pending.finally(() => this.#bumpGeneration(row.repo));
    this.#updateCopy(row, result.state, true);
    return result;
  }

  #updateCopy(row: RepositoryRow, state: RepoState, isChange: boolean): void {
    try {
      this.#store.relaxed(({ repositories, workspaces, now }) => {
        repositories.recordState(row.repo, state);
        if (!isChange) return;
        repositories.touch(row.repo, now);
        if (row.kind === "workspace") workspaces.touch(row.name, now);
      });
      this.#checked.add(row.repo);
    } catch (error) {
      // The repository has stored the change durably, even if there is no room for the kernel's copy.
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

function actorAddressOf({ repo }: RepositoryRow): string {
  return `repo:${repo}`;
}

function toRepoOp(change: GitChange): RepoArgs<"fileChange">["ops"][number] {
  switch (change.type) {
    case "put":
      return { type: "put", path: change.path, bytes: change.content, ifOid: change.ifOid };
    case "delete":
      return { type: "delete", path: change.path, recursive: true };
    case "move":
      return change;
  }
}
