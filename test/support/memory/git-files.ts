// GitFiles over real repositories in memory, for tests of the mounts that use them. Counts its calls.

import { fail } from "../../../src/lib/sys-error.ts";
import { serializeCommit } from "../../../src/repo/commit.ts";
import { Repository } from "../../../src/repo/repository.ts";
import { MODE, serializeTree } from "../../../src/repo/tree.ts";
import type { GitChange, GitFiles, GitStat } from "../../../src/vfs/git-files.ts";
import { MemorySql } from "./sql.ts";

const NOW = 1_700_000_000_000;
const KINDS = { tree: "directory", blob: "file", symlink: "other" } as const;

export class MemoryGit implements GitFiles {
  readonly #repositories = new Map<string, Repository>();
  calls = 0;

  async stat(repo: string, path: string): Promise<GitStat | null> {
    const found = this.#lookup(repo, path);
    return found === undefined ? null : { kind: KINDS[found.type], size: found.size ?? 0, oid: found.hash, modifiedAt: NOW };
  }

  async list(repo: string, path: string): Promise<{ name: string; kind: GitStat["kind"] }[] | null> {
    if (this.#lookup(repo, path)?.type !== "tree") return null;
    const read = this.repository(repo).read("main", path);
    return read.kind === "tree" ? read.entries.map(({ name, type }) => ({ name, kind: KINDS[type] })) : null;
  }

  async read(repo: string, path: string): Promise<{ oid: string; bytes: Uint8Array } | null> {
    const found = this.#lookup(repo, path);
    return found?.type === "blob" ? { oid: found.hash, bytes: this.repository(repo).readBytes("main", path) } : null;
  }

  /** Counts as one call, however many files. */
  async readFirstBytes(repo: string, paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]> {
    const before = this.calls;
    const found = await Promise.all(paths.map((path) => this.read(repo, path)));
    this.calls = before + 1;
    return found.map((file) => file?.bytes.slice(0, bytes) ?? null);
  }

  async commitChanges(repo: string, message: string, author: string, changes: readonly GitChange[]): Promise<boolean> {
    for (const change of changes) {
      if (change.type !== "put" || change.ifOid === undefined) continue;
      if (this.#lookup(repo, change.path)?.hash !== change.ifOid) fail(409, `${change.path} was changed meanwhile`);
    }
    const ops = changes.map((change) => {
      if (change.type === "put") return { type: "put" as const, path: change.path, bytes: change.content };
      return change.type === "delete" ? { ...change, recursive: true } : change;
    });
    this.calls++;
    return this.repository(repo).apply({ message, ops, author: { name: author, email: `${author}@gsv.local` }, now: NOW }).changed;
  }

  /** Created when it is first used. */
  repository(repo: string): Repository {
    const known = this.#repositories.get(repo);
    if (known !== undefined) return known;
    const made = new Repository(new MemorySql());
    this.#repositories.set(repo, made);
    return made;
  }

  /** Authors and messages of the commits, newest first. */
  messages(repo: string): string[] {
    return this.repository(repo)
      .log()
      .entries.map(({ author, message }) => `${author}: ${message.trim()}`);
  }

  /** Replaces the content of the repository by one symbolic link, which no call can make. */
  plantLink(repo: string, name: string, target: string): void {
    const { objects, history, refs } = this.repository(repo).store;
    const oid = objects.write("blob", new TextEncoder().encode(target));
    const tree = objects.write("tree", serializeTree([{ mode: MODE.link, name, oid }]));
    const signature = { name: "x", email: "x@y", time: NOW / 1000 };
    const commit = objects.write(
      "commit",
      serializeCommit({ tree, parents: [], author: signature, committer: signature, message: "link\n" }),
    );
    history.add(commit, tree, []);
    refs.move("refs/heads/main", null, commit);
  }

  #lookup(repo: string, path: string) {
    this.calls++;
    const repository = this.repository(repo);
    return repository.head() === null ? undefined : repository.lookup("main", path);
  }
}
