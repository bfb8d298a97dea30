// The calls of a repository actor, by name. The actor dispatches by this table and the kernel derives its types from it.
// Arguments and results can be copied between threads.

import type { ApplyRequest } from "./apply.ts";
import type { Person } from "./commit.ts";
import { parseCommit } from "./commit.ts";
import type { DiffResult } from "./diff.ts";
import type { ImportRequest } from "./import.ts";
import type { Quota } from "./objects.ts";
import { readFirstBytes } from "./read.ts";
import type { HttpFetch } from "./remote.ts";
import { type IdempotencyKey, runIdempotent } from "./idempotency.ts";
import type { Repository } from "./repository.ts";

/** The kernel keeps a copy of this, to list repositories and to know what their owners store without calling each one. */
export type RepoState = { defaultBranch: string; head: string | null; bytes: number };

export type FileStat = { kind: FileKind; size: number; oid: string; modifiedAt: number };
export type FileEntry = { name: string; kind: FileKind };
/** A symbolic link is "other": nothing guarantees that its target exists. */
type FileKind = "file" | "directory" | "other";

type ApplyArgs = Omit<ApplyRequest, keyof IdempotencyKey> & IdempotencyKey;
type ScaffoldArgs = Pick<ApplyRequest, "message" | "ops" | "author" | "now">;
type CreateArgs = IdempotencyKey & { slug: string; author: Person; ref?: string | undefined };
type ImportArgs = Omit<ImportRequest, "http">;
type Location = { ref?: string | undefined; path?: string | undefined };
type NoArgs = Record<string, never>;

export const repoCalls = {
  state: (repository: Repository, _: NoArgs) => readRepoState(repository),

  /** Writes the first commit of main unless main exists, so a repeat changes nothing. */
  scaffold(repository: Repository, { message, ops, author, now }: ScaffoldArgs) {
    if (repository.refs().heads.main === undefined) repository.apply({ ref: "main", message, ops, author, now });
    return readRepoState(repository);
  },

  create: (repository: Repository, { slug, author, now, ref, key }: CreateArgs) =>
    runIdempotent(repository.store.sql, { key, now }, ["create", ref], () => ({
      ...repository.create(slug, author, now, ref),
      state: readRepoState(repository),
    })),

  apply: (repository: Repository, { key, ...request }: ApplyArgs) =>
    runIdempotent(repository.store.sql, { key, now: request.now }, ["apply", comparableRequest(request)], () => ({
      ...repository.apply(request),
      state: readRepoState(repository),
    })),

  async import(repository: Repository, request: ImportArgs, http: HttpFetch) {
    return { ...(await repository.import({ ...request, http })), state: readRepoState(repository) };
  },

  refs: (repository: Repository, _: NoArgs) => repository.refs(),

  read: (repository: Repository, { ref, path }: Location) => repository.read(refOrDefault(repository, ref), path),

  search: (repository: Repository, { ref, query, prefix }: { ref?: string | undefined; query: string; prefix?: string | undefined }) =>
    repository.search(refOrDefault(repository, ref), query, prefix),

  log: (
    repository: Repository,
    { ref, limit, offset }: { ref?: string | undefined; limit?: number | undefined; offset?: number | undefined },
  ) => repository.log(refOrDefault(repository, ref), limit, offset),

  diff: (repository: Repository, { commit, context }: { commit: string; context?: number | undefined }): Promise<DiffResult> =>
    repository.diff(commit, context),

  compare: (
    repository: Repository,
    { base, head, context, stat }: { base: string; head: string; context?: number | undefined; stat?: boolean | undefined },
  ) => repository.compare(base, head, context, stat),

  /** The `file...` calls read and change files on the default branch. Null: there is no such file or directory. */
  fileStat(repository: Repository, { path }: { path: string }): FileStat | null {
    const head = headCommit(repository);
    const entry = head === null ? undefined : repository.lookup(head.oid, path);
    if (head === null || entry === undefined) return null;
    return { kind: KINDS[entry.type], size: entry.size ?? 0, oid: entry.hash, modifiedAt: head.at };
  },

  fileList(repository: Repository, { path }: { path: string }): FileEntry[] | null {
    const head = headCommit(repository);
    if (head === null || repository.lookup(head.oid, path)?.type !== "tree") return null;
    const read = repository.read(head.oid, path);
    return read.kind === "tree" ? read.entries.map(({ name, type }) => ({ name, kind: KINDS[type] })) : null;
  },

  fileRead(repository: Repository, { path }: { path: string }): { oid: string; bytes: Uint8Array } | null {
    const head = headCommit(repository);
    const entry = head === null ? undefined : repository.lookup(head.oid, path);
    if (head === null || entry?.type !== "blob") return null;
    return { oid: entry.hash, bytes: repository.readBytes(head.oid, path) };
  },

  /** The first bytes of many files at once; null for a path that is not a file. */
  fileHeads(repository: Repository, { paths, bytes }: { paths: readonly string[]; bytes: number }): (Uint8Array | null)[] {
    const head = repository.head(refOrDefault(repository, undefined));
    return head === null ? paths.map(() => null) : readFirstBytes(repository.store, head, paths, bytes);
  },

  fileChange(repository: Repository, request: Omit<ApplyRequest, "ref">) {
    const { changed } = repository.apply({ ...request, ref: refOrDefault(repository, undefined) });
    return { changed, state: readRepoState(repository) };
  },
} satisfies Record<string, (repository: Repository, args: never, http: HttpFetch) => unknown>;

const KINDS = { blob: "file", tree: "directory", symlink: "other" } as const satisfies Record<string, FileKind>;

export type RepoCall = keyof typeof repoCalls;
/** A `quota` limits how much the repository may hold from then on. */
export type RepoArgs<N extends RepoCall> = Parameters<(typeof repoCalls)[N]>[1] & { quota?: Quota | null };
export type RepoResult<N extends RepoCall> = Awaited<ReturnType<(typeof repoCalls)[N]>>;

export function readRepoState(repository: Repository): RepoState {
  const defaultBranch = refOrDefault(repository, undefined);
  return { defaultBranch, head: repository.head(defaultBranch), bytes: repository.store.objects.storedBytes };
}

/** The default is main; a repository without main uses its own default branch. */
function refOrDefault(repository: Repository, ref: string | undefined): string {
  return ref ?? (repository.head("main") === null ? repository.defaultBranch : "main");
}

function headCommit(repository: Repository): { oid: string; at: number } | null {
  const oid = repository.head(refOrDefault(repository, undefined));
  return oid === null ? null : { oid, at: parseCommit(repository.store.objects.read(oid, "commit")).committer.time * 1000 };
}

/** What makes two requests equal: not the time, and not the caller, who is part of the key already. */
function comparableRequest({ ref, message, expectedHead, allowEmpty, ops }: ApplyRequest): unknown {
  return [ref, message, expectedHead, allowEmpty, ops];
}
