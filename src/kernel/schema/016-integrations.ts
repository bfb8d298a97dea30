// MCP servers with the definitions of their tools, OAuth accounts, and sign-ins that are in progress. Rows may be large, so the tables
// have rowids (015).

export const integrations = {
  version: 16,
  statements: [
    `CREATE TABLE mcp_servers (
       server_id TEXT NOT NULL PRIMARY KEY, uid INTEGER NOT NULL, name TEXT NOT NULL, url TEXT NOT NULL, transport TEXT NOT NULL,
       headers TEXT, client TEXT, client_issuer TEXT, callback_url TEXT, state TEXT NOT NULL, error TEXT, auth_url TEXT,
       auth_until INTEGER, account_id TEXT, instructions TEXT, capabilities TEXT, resource_count INTEGER NOT NULL,
       prompt_count INTEGER NOT NULL, has_tools INTEGER NOT NULL, left_out INTEGER NOT NULL, created_at INTEGER NOT NULL,
       updated_at INTEGER NOT NULL, UNIQUE (uid, name, url))`,
    "CREATE INDEX mcp_servers_of ON mcp_servers (uid, updated_at)",
    "CREATE INDEX mcp_servers_account ON mcp_servers (account_id)",
    // accepted: the definition that may be used; offered: what the server says now, or null if it no longer has the tool.
    `CREATE TABLE mcp_tools (
       server_id TEXT NOT NULL, name TEXT NOT NULL, position INTEGER NOT NULL, accepted TEXT, offered TEXT, PRIMARY KEY (server_id, name))`,
    `CREATE TABLE oauth_flows (
       flow_id TEXT NOT NULL PRIMARY KEY, state_hash TEXT NOT NULL UNIQUE, uid INTEGER NOT NULL, kind TEXT NOT NULL, provider TEXT NOT NULL,
       account_key TEXT NOT NULL, label TEXT, authorization_endpoint TEXT NOT NULL, token_endpoint TEXT NOT NULL, client_id TEXT NOT NULL,
       redirect_uri TEXT NOT NULL, scope TEXT, resource TEXT, secrets TEXT NOT NULL, issuer TEXT, iss_required INTEGER NOT NULL,
       server_id TEXT, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL)`,
    "CREATE INDEX oauth_flows_of ON oauth_flows (uid, created_at)",
    "CREATE INDEX oauth_flows_age ON oauth_flows (expires_at)",
    `CREATE TABLE oauth_accounts (
       account_id TEXT NOT NULL PRIMARY KEY, uid INTEGER NOT NULL, kind TEXT NOT NULL, provider TEXT NOT NULL, account_key TEXT NOT NULL,
       label TEXT, scope TEXT, resource TEXT, token_endpoint TEXT NOT NULL, client_id TEXT NOT NULL, token_type TEXT NOT NULL,
       secrets TEXT NOT NULL, generation INTEGER NOT NULL, state TEXT NOT NULL, expires_at INTEGER, metadata TEXT NOT NULL,
       created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, last_used_at INTEGER, UNIQUE (uid, kind, provider, account_key))`,
  ],
} as const;
