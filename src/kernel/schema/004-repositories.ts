// Repositories with their owners, and workspaces. The content of a repository is in its own database; head and default branch are
// copies.

export const repositories = {
  version: 4,
  statements: [
    `CREATE TABLE repositories (
       owner TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, public INTEGER NOT NULL, description TEXT,
       upstream_url TEXT, upstream_ref TEXT, default_branch TEXT NOT NULL, head TEXT, scaffolded INTEGER NOT NULL,
       archived INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (owner, name)) STRICT, WITHOUT ROWID`,
    "CREATE INDEX repositories_public ON repositories (public) WHERE public = 1",
    // The repository of a workspace is <owner's username>/<workspace_id>.
    `CREATE TABLE workspaces (
       workspace_id TEXT PRIMARY KEY, owner_uid INTEGER NOT NULL, label TEXT, kind TEXT NOT NULL, state TEXT NOT NULL,
       created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    "CREATE INDEX workspaces_owner ON workspaces (owner_uid, updated_at)",
    "INSERT INTO repositories SELECT username, 'home', 'home', 0, NULL, NULL, NULL, 'main', NULL, 0, 0, 0, 0 FROM passwd",
  ],
} as const;
