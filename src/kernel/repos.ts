// The kernel's side of repositories: reaches their actors, makes a home's or a workspace's first files on first use, and
// keeps the kernel's copy of where each branch is. Judges nobody: nouns/repositories.ts says who may.
//
// The copy is a cache on the relaxed lane. A crash may lose it, so each life of the kernel asks once before it believes it.

import { ROW_BYTES } from "../lib/row-bytes.ts";
import { fail, SysError } from "../lib/sys-error.ts";
import type { Actors, ActorRequest, ActorResponse } from "../ports/actors.ts";
import type { Log } from "../ports/log.ts";
import type { Net } from "../ports/net.ts";
import { StorageError } from "../ports/sql.ts";
import type { RepoArgs, RepoCall, RepoResult, RepoState } from "../repo/calls.ts";
import type { Quota } from "../repo/objects.ts";
import { LIMITS } from "../repo/limits.ts";
import type { Person } from "../repo/commit.ts";
import type { GitChange, GitFiles } from "../vfs/git-files.ts";
import type { ReadContext, WriteContext } from "./context.ts";
import type { RepositoryRow } from "./nouns/repositories.ts";
import { importHttp } from "./repo-http.ts";
import { homeScaffold, type Scaffold, workspaceScaffold } from "./scaffold.ts";

type Means = {
  actors: Actors;
  net: Net;
  log: Log;
  reads: ReadContext;
  relaxed<T>(body: (nouns: WriteContext) => T): T;
  /** Resolves when what was written so far is on disk; fails where it could not be. */
  durable(): Promise<void>;
};

/** How many are asked at a time. */
const ASKED_AT_ONCE = 8;
/** Each holds a connection for as long as the remote likes, within minutes. */
const IMPORTS_PER_OWNER = 8;
/** The most that one pack adds, whatever it unpacks to. */
const PACK_ADDS_BYTES = LIMITS.inflatedBytes + LIMITS.packObjects * ROW_BYTES;
/** Deleting is a commit too: whoever has used up their quota may go beyond it by so much, in all, to delete. */
const DELETING_BYTES = 16 * 1024 * 1024;

export class Repos {
  readonly #means: Means;
  /** The owners of what is being imported. */
  readonly #importing: string[] = [];
  /** What packs that are arriving may still add. Several at once share what is left to their owner. */
  readonly #arriving = new Set<{ owner: string; bytes: number }>();
  /** Those whose copy was checked in this life. */
  readonly #checked = new Set<string>();

  constructor(means: Means) {
    this.#means = means;
  }

  /** Something of a repository that changes nothing in it. */
  async ask<N extends RepoCall>(row: RepositoryRow, name: N, args: RepoArgs<N>): Promise<RepoResult<N>> {
    await this.#ready(row);
    return (await this.#means.actors.call(addressOf(row), name, args)) as RepoResult<N>;
  }

  /**
   * A repository keeps what it is told whatever becomes of the kernel's batch. The row that names it may have been made by
   * another call of this turn, so it is on disk first: a yes about a repository that nobody can find is none.
   */
  async change<N extends "create" | "apply">(row: RepositoryRow, name: N, args: RepoArgs<N>): Promise<RepoResult<N>> {
    await this.#means.durable();
    const isDeletion = "ops" in args && args.ops.length > 0 && args.ops.every(({ type }) => type === "delete");
    const result = await this.#within(row, isDeletion, (quota) => this.ask(row, name, { ...args, quota }));
    this.#keep(row, result.state, true);
    return result;
  }

  /** Ends with the signal. */
  async import(row: RepositoryRow, args: RepoArgs<"import">, signal: AbortSignal): Promise<RepoResult<"import">> {
    if (this.#importing.filter((owner) => owner === row.owner).length >= IMPORTS_PER_OWNER)
      fail(429, `Too many imports at once: ${row.owner} has ${IMPORTS_PER_OWNER} under way, wait for one of them`);
    this.#importing.push(row.owner);
    try {
      await this.#means.durable();
      await this.#ready(row);
      const http = importHttp(this.#means.net, signal);
      const asked = (quota: Quota | null) => this.#means.actors.call(addressOf(row), "import", { ...args, quota }, http);
      const result = (await this.#arrives(row, asked)) as RepoResult<"import">;
      this.#keep(row, result.state, result.changed);
      return result;
    } finally {
      this.#importing.splice(this.#importing.indexOf(row.owner), 1);
    }
  }

  async fetch(row: RepositoryRow, request: ActorRequest): Promise<ActorResponse> {
    await this.#means.durable();
    await this.#ready(row);
    const isPush = request.method === "POST" && request.access.write;
    if (!isPush) return this.#means.actors.fetch(addressOf(row), request);
    return this.#arrives(row, async (quota) => {
      const response = await this.#means.actors.fetch(addressOf(row), { ...request, access: { ...request.access, quota } });
      // What was refused has left nothing behind, and may have been counted while it arrived.
      if (response.changed === null) await this.#check(row);
      else this.#keep(row, response.changed as RepoState, true);
      return response;
    });
  }

  /** Asks those that have not said yet how much they hold. */
  async measure(): Promise<void> {
    for (const row of this.#means.reads.repositories.unmeasured()) await this.#check(row);
  }

  /** With their first files, and with the copy of their heads as it is now. */
  async present(rows: readonly RepositoryRow[]): Promise<RepositoryRow[]> {
    const left = rows.filter((row) => !this.#checked.has(row.repo));
    const next = async () => {
      for (let row = left.pop(); row !== undefined; row = left.pop()) await this.#check(row);
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, next));
    return rows.map((row) => this.#means.reads.repositories.get(row.repo) ?? row);
  }

  /** A batch was lost, and copies with it. */
  forget(): void {
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
      const row = this.#means.reads.repositories.toRead({ uid: 0, username: "root" }, repo);
      await this.#means.durable();
      const request = { message, ops: changes.map(opOf), author: personOf(author), now: this.#now };
      const isDeletion = isDeleting(changes);
      const { state, changed } = await this.#within(row, isDeletion, (quota) => this.ask(row, "fileChange", { ...request, quota }));
      this.#keep(row, state, true);
      return changed;
    },
  };

  /** One that cannot be asked must not keep the others from being listed. */
  async #check(row: RepositoryRow): Promise<void> {
    try {
      this.#keep(row, await this.ask(row, "state", {}), false);
    } catch (error) {
      this.#means.log.error("a repository does not answer", { repo: row.repo, error: String(error) });
    }
  }

  /** Within what its owner's quota leaves to a repository. */
  async #within<T>(row: RepositoryRow, isDeletion: boolean, body: (quota: Quota | null) => Promise<T>): Promise<T> {
    await this.#measured(row);
    return this.#orMeasured(row, body(this.#quotaOf(row, isDeletion ? DELETING_BYTES : 0)));
  }

  /** The same for a pack, of which nobody knows beforehand what it adds. */
  async #arrives<T>(row: RepositoryRow, body: (quota: Quota | null) => Promise<T>): Promise<T> {
    await this.#measured(row);
    const { owner } = row;
    const others = [...this.#arriving].filter((one) => one.owner === owner).reduce((sum, one) => sum + one.bytes, 0);
    const quota = this.#quotaOf(row, -others);
    const left = quota === null ? 0 : quota.bytes - (this.#present(row).bytes ?? 0);
    const arriving = { owner, bytes: Math.min(PACK_ADDS_BYTES, left) };
    this.#arriving.add(arriving);
    return this.#orMeasured(row, body(quota)).finally(() => this.#arriving.delete(arriving));
  }

  /** Null for no limit. `more` is what its owner may hold beyond their quota, or less than that. */
  #quotaOf(row: RepositoryRow, more: number): Quota | null {
    const { accounts, quotas } = this.#means.reads;
    const uid = accounts.byName(row.owner)?.uid;
    const left = uid === undefined ? Infinity : quotas.leftOf(uid, more);
    if (uid === undefined || left === Infinity) return null;
    return { bytes: (this.#present(row).bytes ?? 0) + left, says: quotas.refusal(uid) };
  }

  async #measured(row: RepositoryRow): Promise<void> {
    if (this.#present(row).bytes === null && this.#quotaOf(row, 0) !== null) await this.#check(row);
  }

  /** The copy of how much it holds may be too old: it is asked before anybody is refused a second time. */
  #orMeasured<T>(row: RepositoryRow, work: Promise<T>): Promise<T> {
    return work.catch(async (error: unknown) => {
      if (error instanceof SysError && error.code === 507) await this.#check(row);
      throw error;
    });
  }

  #present(row: RepositoryRow): RepositoryRow {
    return this.#means.reads.repositories.get(row.repo) ?? row;
  }

  get #now(): number {
    return this.#means.reads.now;
  }

  #inside<T>(repo: string, absent: T, body: (row: RepositoryRow) => Promise<T>): Promise<T> | T {
    const row = this.#means.reads.repositories.get(repo);
    return row === undefined ? absent : body(row);
  }

  /** Doing it twice changes nothing, so a crash on the way costs nothing either. */
  async #ready(row: RepositoryRow): Promise<void> {
    if (row.isScaffolded || this.#checked.has(row.repo)) return;
    const scaffold = this.#scaffoldOf(row);
    if (scaffold === null) return;
    const state = await this.#means.actors.call(addressOf(row), "scaffold", { ...scaffold, author: personOf(row.owner), now: this.#now });
    this.#keep(row, state as RepoState, false);
  }

  #scaffoldOf({ kind, owner, name }: RepositoryRow): Scaffold | null {
    if (kind === "home") return homeScaffold(owner);
    const workspace = kind === "workspace" ? this.#means.reads.workspaces.get(name) : undefined;
    return workspace === undefined ? null : workspaceScaffold(workspace, owner);
  }

  #keep(row: RepositoryRow, state: RepoState, isChange: boolean): void {
    try {
      this.#means.relaxed(({ repositories, workspaces, now }) => {
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
      this.#means.log.error("storage failed", { error: error.message });
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

/** Empty files alone delete nothing; beside a deletion they keep the directory whose last file goes. */
function isDeleting(changes: readonly GitChange[]): boolean {
  const isEmpty = (change: GitChange) => change.type === "put" && change.content.length === 0;
  return changes.some(({ type }) => type === "delete") && changes.every((change) => change.type === "delete" || isEmpty(change));
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
