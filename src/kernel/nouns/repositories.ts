// All repositories, their owners, and who may read and write them. Owns repositories. The content of each is in its own actor
// (kernel/repos/repos.ts). For a user who may not read it, a repository does not exist.

import { allowsAll } from "../../lib/capability.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import { isRoot } from "../../protocol/caller.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { RepoState } from "../../repo/calls.ts";
import type { Accounts } from "./accounts.ts";
import type { Usage } from "./usage.ts";

export type RepositoryKind = "home" | "workspace" | "package" | "user";

export type RepositoryRow = {
  /** owner/name. */
  repo: string;
  owner: string;
  name: string;
  kind: RepositoryKind;
  public: boolean;
  description: string | null;
  upstream: { url: string; ref: string } | null;
  defaultBranch: string;
  head: string | null;
  /** Whether the initial files exist; they are made on first use. */
  isScaffolded: boolean;
  /** The repository of an archived workspace is read-only. */
  isArchived: boolean;
  createdAt: number;
  updatedAt: number;
  /** The size that its actor last reported; null if it never did. */
  bytes: number | null;
};

type Who = { uid: number; username: string };
type Slug = { owner: string; name: string };
type Writer = Who & { capabilities: readonly string[] };

export type RepositoryReads = Pick<
  Repositories,
  "get" | "list" | "listUnmeasured" | "mayRead" | "mayWrite" | "requireReadable" | "findWritable" | "findManageable"
>;

export const HOME = "home";
export const WORKSPACE_PREFIX = "ws_";
const PART = /^[A-Za-z0-9._-]+$/;
const PART_CHARS_MAX = 100;
const DESCRIPTION_CHARS_MAX = 500;

export class Repositories {
  readonly #sql: Sql;
  readonly #accounts: Accounts;
  readonly #usage: Usage;

  constructor(sql: Sql, accounts: Accounts, usage: Usage) {
    this.#sql = sql;
    this.#accounts = accounts;
    this.#usage = usage;
  }

  get(repo: string): RepositoryRow | undefined {
    const { owner, name } = parseSlug(repo);
    const row = this.#sql.get("SELECT * FROM repositories WHERE owner = ? AND name = ?", owner, name);
    return row && fromRow(row);
  }

  /** The repositories that the caller may read, sorted by slug. */
  list(who: Who, owner?: string): RepositoryRow[] {
    const rows =
      owner === undefined
        ? this.#sql.all("SELECT * FROM repositories WHERE ?1 = 0 OR owner = ?2 OR public = 1", who.uid, who.username)
        : this.#sql.all(
            "SELECT * FROM repositories WHERE owner = ?3 AND (?1 = 0 OR owner = ?2 OR public = 1)",
            who.uid,
            who.username,
            owner,
          );
    return rows.map(fromRow).toSorted((a, b) => (a.repo < b.repo ? -1 : 1));
  }

  /** Repositories that have files and have never reported their size. */
  listUnmeasured(): RepositoryRow[] {
    return this.#sql.all("SELECT * FROM repositories WHERE bytes IS NULL AND head IS NOT NULL").map(fromRow);
  }

  /**
   * A caller with the capability * may write the repositories of others, except homes and workspaces: those are files, and no capability
   * gives access to other users' files.
   */
  mayWrite(who: Writer, { owner, name }: Slug): boolean {
    return isOwnerOrRoot(who, owner) || (allowsAll(who.capabilities) && name !== HOME && !name.startsWith(WORKSPACE_PREFIX));
  }

  /** Depends on the owner alone: no capability gives access to other users' private repositories. */
  mayRead(who: Who, { owner, public: isPublic }: RepositoryRow): boolean {
    return isOwnerOrRoot(who, owner) || isPublic;
  }

  /** Fails as if the repository did not exist if the caller may not read it. */
  requireReadable(who: Who, repo: string): RepositoryRow {
    const row = this.get(repo);
    return row !== undefined && this.mayRead(who, row) ? row : failNotFound(repo);
  }

  /** Fails if the caller may not write; undefined if the repository does not exist and the caller may make it. */
  findWritable(who: Writer, repo: string): RepositoryRow | undefined {
    return this.#findChangeable(repo, (slug) => this.mayWrite(who, slug));
  }

  /** The same for changes to who may read it, which only its owner and root may make. */
  findManageable(who: Who, repo: string): RepositoryRow | undefined {
    return this.#findChangeable(repo, ({ owner }) => isOwnerOrRoot(who, owner));
  }

  #findChangeable(repo: string, isAllowed: (slug: Slug) => boolean): RepositoryRow | undefined {
    const slug = parseSlug(repo);
    const row = this.get(repo);
    if (isAllowed(slug)) {
      if (row === undefined) this.#mustBeNew(slug);
      if (row?.isArchived) fail(409, `${row.repo} is archived: activate its workspace again first (sys.workspace.update)`);
      return row;
    }
    if (row === undefined || !row.public) failNotFound(repo);
    fail(403, `Permission denied: cannot write repo ${row.repo}`);
  }

  /** The existing repository, or a new one. */
  findOrMake(repo: string, details: { description?: string | undefined; public?: boolean | undefined }, now: number): RepositoryRow {
    const slug = parseSlug(repo);
    const row = this.get(repo);
    if (row !== undefined) return row;
    this.#mustBeNew(slug);
    this.#add(slug.owner, slug.name, "user", now);
    return this.update(repo, details);
  }

  makeHome(username: string, now: number): void {
    this.#add(username, HOME, "home", now);
  }

  makeWorkspace(username: string, workspaceId: string, now: number): RepositoryRow {
    this.#mustHaveRoom(username);
    this.#add(username, workspaceId, "workspace", now);
    return this.get(`${username}/${workspaceId}`)!;
  }

  update(repo: string, change: { description?: string | undefined; public?: boolean | undefined }): RepositoryRow {
    const { owner, name, kind, ...row } = this.get(repo) ?? failNotFound(repo);
    // One careless call must not publish what an agent remembers or works on.
    if (change.public === true && (kind === "home" || kind === "workspace")) fail(409, `${repo} is a ${kind} and stays private`);
    const description =
      change.description === undefined ? row.description : change.description.trim().slice(0, DESCRIPTION_CHARS_MAX) || null;
    this.#sql.run(
      "UPDATE repositories SET public = ?, description = ? WHERE owner = ? AND name = ?",
      (change.public ?? row.public) ? 1 : 0,
      description,
      owner,
      name,
    );
    return this.get(repo)!;
  }

  setUpstream(repo: string, url: string, ref: string): void {
    const { owner, name } = parseSlug(repo);
    this.#sql.run("UPDATE repositories SET upstream_url = ?, upstream_ref = ? WHERE owner = ? AND name = ?", url, ref, owner, name);
  }

  /** Stores the state that the repository's actor reported. */
  recordState(repo: string, { defaultBranch, head, bytes }: RepoState): void {
    const row = this.get(repo);
    // The row was lost with a batch that did not reach the disk.
    if (row === undefined) return;
    const { owner, name } = row;
    const uid = this.#accounts.findByName(owner)?.uid;
    if (uid !== undefined) this.#usage.addRepoBytes(uid, bytes - (row.bytes ?? 0));
    this.#sql.run(
      "UPDATE repositories SET default_branch = ?, head = ?, scaffolded = scaffolded OR ?, bytes = ? WHERE owner = ? AND name = ?",
      defaultBranch,
      head,
      head === null ? 0 : 1,
      bytes,
      owner,
      name,
    );
  }

  touch(repo: string, now: number): void {
    const { owner, name } = parseSlug(repo);
    this.#sql.run("UPDATE repositories SET updated_at = ? WHERE owner = ? AND name = ?", now, owner, name);
  }

  setArchived(repo: string, isArchived: boolean): void {
    const { owner, name } = parseSlug(repo);
    this.#sql.run("UPDATE repositories SET archived = ? WHERE owner = ? AND name = ?", isArchived ? 1 : 0, owner, name);
  }

  #add(owner: string, name: string, kind: RepositoryKind, now: number): void {
    this.#sql.run(
      "INSERT OR IGNORE INTO repositories VALUES (?, ?, ?, 0, NULL, NULL, NULL, 'main', NULL, 0, 0, ?, ?, NULL)",
      owner,
      name,
      kind,
      now,
      now,
    );
  }

  #mustBeNew({ owner, name }: Slug): void {
    if (this.#accounts.findByName(owner) === undefined) fail(404, `Unknown user: ${owner}`);
    if (name.startsWith(WORKSPACE_PREFIX))
      fail(400, `Invalid repo owner/name: ${owner}/${name} (only sys.workspace.create creates such names)`);
    this.#mustHaveRoom(owner);
  }

  #mustHaveRoom(owner: string): void {
    const count = Number(this.#sql.get("SELECT count(*) AS count FROM repositories WHERE owner = ?", owner)?.count);
    if (count >= LIMITS.repositoriesPerUser) fail(429, `Too many repositories and workspaces: ${owner} has ${count}, which is the maximum`);
  }
}

/** Leading and trailing slashes are ignored. */
export function parseSlug(repo: string): Slug {
  const parts = repo.replace(/^\/+|\/+$/g, "").split("/");
  const [owner = "", name = ""] = parts;
  if (parts.length !== 2) fail(400, "repo must be '<owner>/<name>'");
  for (const part of parts) {
    // A name that ends in .git could not be distinguished from its own URL.
    const isReserved = part === "." || part === ".." || part.endsWith(".git");
    if (!PART.test(part) || part.length > PART_CHARS_MAX || isReserved)
      fail(400, `Invalid repo owner/name: ${repo.slice(0, 2 * PART_CHARS_MAX)}`);
  }
  return { owner, name };
}

/** Root counts as owner of everything. */
function isOwnerOrRoot(who: Who, owner: string): boolean {
  return isRoot(who) || who.username === owner;
}

function failNotFound(repo: string): never {
  const { owner, name } = parseSlug(repo);
  fail(404, `Repository not found: ${owner}/${name}`);
}

function fromRow(row: SqlRow): RepositoryRow {
  const owner = String(row.owner);
  const name = String(row.name);
  return {
    repo: `${owner}/${name}`,
    owner,
    name,
    kind: row.kind as RepositoryKind,
    public: row.public === 1,
    description: row.description as string | null,
    upstream: row.upstream_url === null ? null : { url: String(row.upstream_url), ref: String(row.upstream_ref) },
    defaultBranch: String(row.default_branch),
    head: row.head as string | null,
    isScaffolded: row.scaffolded === 1,
    isArchived: row.archived === 1,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    bytes: row.bytes === null ? null : Number(row.bytes),
  };
}
