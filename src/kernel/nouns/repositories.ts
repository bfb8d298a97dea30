// Which repositories there are, whose they are and who may see them. Owns repositories. What is in one is in its own
// actor (kernel/repos/repos.ts). To whoever may not read a repository it does not exist.

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
  /** Whether its first files are there; until then they are made on first use. */
  isScaffolded: boolean;
  /** Of a workspace that was put away: to be read, not changed. */
  isArchived: boolean;
  createdAt: number;
  updatedAt: number;
  /** What it holds, as it said when it was last asked; null where it never was. */
  bytes: number | null;
};

type Who = { uid: number; username: string };
type Slug = { owner: string; name: string };
type Writer = Who & { capabilities: readonly string[] };

export type RepositoryReads = Pick<
  Repositories,
  "get" | "list" | "unmeasured" | "mayRead" | "mayWrite" | "toRead" | "toWrite" | "toManage"
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

  /** What the caller may read, by slug. */
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

  /** Those that have files and never said how much they hold. */
  unmeasured(): RepositoryRow[] {
    return this.#sql.all("SELECT * FROM repositories WHERE bytes IS NULL AND head IS NOT NULL").map(fromRow);
  }

  /**
   * Whoever may make every call may write the repositories of others. Homes and workspaces are files, and no capability opens
   * somebody else's.
   */
  mayWrite(who: Writer, { owner, name }: Slug): boolean {
    return isOwn(who, owner) || (allowsAll(who.capabilities) && name !== HOME && !name.startsWith(WORKSPACE_PREFIX));
  }

  /** A matter of whose it is alone: no capability shows anybody what is somebody else's. */
  mayRead(who: Who, { owner, public: isPublic }: RepositoryRow): boolean {
    return isOwn(who, owner) || isPublic;
  }

  /** Fails as for one that does not exist where the caller may not read it. */
  toRead(who: Who, repo: string): RepositoryRow {
    const row = this.get(repo);
    return row !== undefined && this.mayRead(who, row) ? row : notFound(repo);
  }

  /** Fails where the caller may not write; undefined for one that is not there and theirs to make. */
  toWrite(who: Writer, repo: string): RepositoryRow | undefined {
    return this.#toChange(repo, (slug) => this.mayWrite(who, slug));
  }

  /** The same for what decides who may read it: that is its owner's and root's. */
  toManage(who: Who, repo: string): RepositoryRow | undefined {
    return this.#toChange(repo, ({ owner }) => isOwn(who, owner));
  }

  #toChange(repo: string, may: (slug: Slug) => boolean): RepositoryRow | undefined {
    const slug = parseSlug(repo);
    const row = this.get(repo);
    if (may(slug)) {
      if (row === undefined) this.#mustBeNew(slug);
      if (row?.isArchived) fail(409, `${row.repo} is archived: activate its workspace again first (sys.workspace.update)`);
      return row;
    }
    if (row === undefined || !row.public) notFound(repo);
    fail(403, `Permission denied: cannot write repo ${row.repo}`);
  }

  /** The one that is there, or a new one. */
  make(repo: string, how: { description?: string | undefined; public?: boolean | undefined }, now: number): RepositoryRow {
    const slug = parseSlug(repo);
    const row = this.get(repo);
    if (row !== undefined) return row;
    this.#mustBeNew(slug);
    this.#add(slug.owner, slug.name, "user", now);
    return this.update(repo, how);
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
    const { owner, name, kind, ...row } = this.get(repo) ?? notFound(repo);
    // What an agent remembers, and what it works on, is not to be published by one careless call.
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

  /** What its actor said of itself. */
  seen(repo: string, { defaultBranch, head, bytes }: RepoState): void {
    const row = this.get(repo);
    // It went with a batch that was lost.
    if (row === undefined) return;
    const { owner, name } = row;
    const uid = this.#accounts.byName(owner)?.uid;
    if (uid !== undefined) this.#usage.reposChanged(uid, bytes - (row.bytes ?? 0));
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

  touched(repo: string, now: number): void {
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
    if (this.#accounts.byName(owner) === undefined) fail(404, `Unknown user: ${owner}`);
    if (name.startsWith(WORKSPACE_PREFIX))
      fail(400, `Invalid repo owner/name: ${owner}/${name} (such names are made by sys.workspace.create)`);
    this.#mustHaveRoom(owner);
  }

  #mustHaveRoom(owner: string): void {
    const count = Number(this.#sql.get("SELECT count(*) AS count FROM repositories WHERE owner = ?", owner)?.count);
    if (count >= LIMITS.repositoriesPerUser)
      fail(429, `Too many repositories and workspaces: ${owner} has ${count} already, and nobody may have more`);
  }
}

/** As people write it: slashes around it do not count. */
export function parseSlug(repo: string): Slug {
  const parts = repo.replace(/^\/+|\/+$/g, "").split("/");
  const [owner = "", name = ""] = parts;
  if (parts.length !== 2) fail(400, "repo must be '<owner>/<name>'");
  for (const part of parts) {
    // A name that ends in .git could not be told from its own address.
    const isOdd = part === "." || part === ".." || part.endsWith(".git");
    if (!PART.test(part) || part.length > PART_CHARS_MAX || isOdd)
      fail(400, `Invalid repo owner/name: ${repo.slice(0, 2 * PART_CHARS_MAX)}`);
  }
  return { owner, name };
}

/** Everything is root's. */
function isOwn(who: Who, owner: string): boolean {
  return isRoot(who) || who.username === owner;
}

function notFound(repo: string): never {
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
