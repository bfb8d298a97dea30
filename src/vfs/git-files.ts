// What the tree needs from repositories: files of the default branch, and changes that are one commit each. The kernel
// implements this with its repositories; the mounts check rights before they call it.

export type GitStat = { kind: "file" | "directory" | "other"; size: number; oid: string; modifiedAt: number };

export type GitChange =
  | { type: "put"; path: string; content: Uint8Array; ifOid?: string } // ifOid: replace only this blob, else SysError 409
  | { type: "delete"; path: string } // recursive
  | { type: "move"; from: string; to: string };

/** Files of a repository's default branch. Paths are relative, without leading slash; "" is the root. */
export type GitFiles = {
  stat(repo: string, path: string): Promise<GitStat | null>;
  list(repo: string, path: string): Promise<{ name: string; kind: GitStat["kind"] }[] | null>;
  read(repo: string, path: string): Promise<{ oid: string; bytes: Uint8Array } | null>;
  /** The first bytes of many files in one request; null for a path that is not a file. Without it, files are read one by one. */
  readFirstBytes?(repo: string, paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]>;
  /** Makes one commit. Returns false, without a commit, if nothing would change. */
  commitChanges(repo: string, message: string, author: string, changes: readonly GitChange[]): Promise<boolean>;
};
