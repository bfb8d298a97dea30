// What the tree needs of repositories: files of a default branch, and changes that are one commit each. The kernel
// implements it over its repositories; who may do what is decided by the mounts, before any of this is called.

export type GitStat = { kind: "file" | "directory" | "other"; size: number; oid: string; modifiedAt: number };

export type GitChange =
  | { type: "put"; path: string; content: Uint8Array; ifOid?: string } // ifOid: only over this blob, else SysError 409
  | { type: "delete"; path: string } // recursive
  | { type: "move"; from: string; to: string };

/** Files of a repository's default branch. Paths are relative, without leading slash; "" is the root. */
export type GitFiles = {
  stat(repo: string, path: string): Promise<GitStat | null>;
  list(repo: string, path: string): Promise<{ name: string; kind: GitStat["kind"] }[] | null>;
  read(repo: string, path: string): Promise<{ oid: string; bytes: Uint8Array } | null>;
  /** The first bytes of many files in one request, null for what is no file. Optional: without it they are read one by one. */
  heads?(repo: string, paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]>;
  /** One commit; false where it would have changed nothing, and then there is none. */
  change(repo: string, message: string, author: string, changes: readonly GitChange[]): Promise<boolean>;
};
