// MCP servers of users. Owns mcp_servers; their tools are mcp-tools.ts beside it. Values of headers and the client's secret are sealed.

import { fail } from "../../lib/sys-error.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { McpConnectionState, McpServerSummary, McpToolSummary, McpTransportType } from "../../protocol/mcp-records.ts";
import { McpTools } from "./mcp-tools.ts";

const SERVERS_PER_USER_MAX = 50;
const ID_CHARS = 8;
const ID_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";
const HEADERS = "mcp-headers";
const CLIENT = "mcp-client";

/** What its owner knows of the server's provider: a client that was registered there beforehand. */
export type OAuthClient = {
  /** Null if GSV registers one itself. */
  clientId: string | null;
  clientSecret: string | null;
  /** Where codes may be sent, if that is another host than that of the provider's page. */
  tokenHost: string | null;
};

/** What a connection is made with. */
export type McpAccess = {
  serverId: string;
  uid: number;
  name: string;
  url: string;
  transport: McpTransportType;
  headers: Record<string, string>;
  client: OAuthClient | null;
  /** The provider at which `client` is registered: that of the first sign-in, null before it. */
  clientIssuer: string | null;
  callbackUrl: string | null;
  accountId: string | null;
};

/** Whose it is, and what people know it by. */
export type McpServerAddress = Pick<McpAccess, "uid" | "name" | "url">;

/** `acceptsTools`: its first list of tools is accepted as it is. */
export type NewMcpServer = Omit<McpAccess, "serverId" | "accountId" | "clientIssuer"> & { acceptsTools: boolean };

/** What a server says of itself. */
export type McpDiscovery = {
  tools: readonly McpToolSummary[];
  /** Tools beyond the limits. */
  leftOut: number;
  instructions: string | null;
  capabilities: Record<string, unknown> | null;
  resourceCount: number;
  promptCount: number;
};

/** Where the owner of a server signs in, and how long the page works. */
export type SignInPage = { authUrl: string; until: number };

/** States that outlive the connection. The others are kept in memory while a connection is opened. */
type StoredState = Extract<McpConnectionState, "not-connected" | "authenticating" | "ready" | "failed">;
export type McpProgress = Exclude<McpConnectionState, StoredState>;

export type McpServerReads = Pick<
  McpServers,
  | "list"
  | "listReady"
  | "listFailed"
  | "listNames"
  | "get"
  | "find"
  | "accessOf"
  | "addressOf"
  | "listNamesUsing"
  | "generationOf"
  | "uidOf"
  | "checkTool"
  | "requireTool"
  | "isReady"
  | "signInPageOf"
>;

export class McpServers {
  readonly #sql: Sql;
  readonly #crypto: Crypto;
  readonly #tools: McpTools;
  readonly #progress = new Map<string, McpProgress>();
  /** By uid: changes whenever one of the user's servers may have. */
  readonly #generations = new Map<number, number>();
  /** How often rows were lost. */
  #lost = 0;
  /** Whether rows were written since the last rollback. */
  #isWritten = false;

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
    this.#tools = new McpTools(sql, crypto);
  }

  add({ uid, name, url, transport, headers, client, callbackUrl, acceptsTools }: NewMcpServer, now: number): string {
    const count = Number(this.#sql.get("SELECT count(*) AS count FROM mcp_servers WHERE uid = ?", uid)?.count);
    if (count >= SERVERS_PER_USER_MAX) fail(409, `Too many MCP servers: at most ${SERVERS_PER_USER_MAX} per user. Remove some first`);
    const serverId = this.#makeId();
    this.#sql.run(
      `INSERT INTO mcp_servers VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?, 'not-connected', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, ?, 0, ?, ?)`,
      serverId,
      uid,
      name,
      url,
      transport,
      Object.keys(headers).length === 0 ? null : this.#crypto.seal(`${HEADERS}/${serverId}`, JSON.stringify(headers)),
      client === null ? null : this.#crypto.seal(`${CLIENT}/${serverId}`, JSON.stringify(client)),
      callbackUrl,
      acceptsTools ? 0 : 1,
      now,
      now,
    );
    this.#touch(uid);
    return serverId;
  }

  /** Last changed first. */
  list(uid: number, now: number): McpServerSummary[] {
    return this.#sql
      .all("SELECT * FROM mcp_servers WHERE uid = ? ORDER BY updated_at DESC, server_id", uid)
      .map((row) => this.#toSummary(row, now));
  }

  /** Those whose tools can be called, also while a connection is being opened. */
  listReady(uid: number, now: number): McpServerSummary[] {
    return this.#sql
      .all("SELECT * FROM mcp_servers WHERE uid = ? AND state = 'ready' ORDER BY updated_at DESC, server_id", uid)
      .map((row) => this.#toSummary(row, now));
  }

  /** The ids of those that are tried again. */
  listFailed(uid: number): string[] {
    return this.#sql.all("SELECT server_id FROM mcp_servers WHERE uid = ? AND state = 'failed'", uid).map((row) => String(row.server_id));
  }

  /** Of all servers of a user, whether their tools can be called or not. */
  listNames(uid: number): Pick<McpServerSummary, "serverId" | "name" | "createdAt">[] {
    return this.#sql
      .all("SELECT server_id, name, created_at FROM mcp_servers WHERE uid = ?", uid)
      .map((row) => ({ serverId: String(row.server_id), name: String(row.name), createdAt: Number(row.created_at) }));
  }

  get(serverId: string, now: number): McpServerSummary | undefined {
    const row = this.#sql.get("SELECT * FROM mcp_servers WHERE server_id = ?", serverId);
    return row && this.#toSummary(row, now);
  }

  find(uid: number, name: string, url: string): string | undefined {
    const row = this.#sql.get("SELECT server_id FROM mcp_servers WHERE uid = ? AND name = ? AND url = ?", uid, name, url);
    return row && String(row.server_id);
  }

  /** Whether its tools can be called. */
  isReady(serverId: string): boolean {
    return this.#sql.get("SELECT 1 FROM mcp_servers WHERE server_id = ? AND state = 'ready'", serverId) !== undefined;
  }

  /** It may have expired. */
  signInPageOf(serverId: string): SignInPage | null {
    const row = this.#sql.get("SELECT auth_url, auth_until FROM mcp_servers WHERE server_id = ? AND auth_url IS NOT NULL", serverId);
    return row === undefined ? null : { authUrl: String(row.auth_url), until: Number(row.auth_until) };
  }

  uidOf(serverId: string): number | undefined {
    const row = this.#sql.get("SELECT uid FROM mcp_servers WHERE server_id = ?", serverId);
    return row && Number(row.uid);
  }

  /** Without its tools, which may be many. */
  addressOf(serverId: string): McpServerAddress | undefined {
    const row = this.#sql.get("SELECT uid, name, url FROM mcp_servers WHERE server_id = ?", serverId);
    return row && { uid: Number(row.uid), name: String(row.name), url: String(row.url) };
  }

  /** Throws UnsealError if the gateway's key was replaced. */
  accessOf(serverId: string): McpAccess | undefined {
    const row = this.#sql.get("SELECT * FROM mcp_servers WHERE server_id = ?", serverId);
    if (row === undefined) return undefined;
    const open = (purpose: string, sealed: SqlRow[string] | undefined): unknown =>
      typeof sealed === "string" ? JSON.parse(this.#crypto.unseal(`${purpose}/${serverId}`, sealed)) : null;
    return {
      serverId,
      uid: Number(row.uid),
      name: String(row.name),
      url: String(row.url),
      transport: row.transport as McpTransportType,
      headers: (open(HEADERS, row.headers) ?? {}) as Record<string, string>,
      client: open(CLIENT, row.client) as OAuthClient | null,
      clientIssuer: row.client_issuer as string | null,
      callbackUrl: row.callback_url as string | null,
      accountId: row.account_id as string | null,
    };
  }

  /**
   * Fails unless the tool is offered as its owner accepted it. `isListed`: the tools have just been read, so that there is no other; else
   * one that is unknown may be there, if the server is not ready.
   */
  checkTool(serverId: string, name: string, isListed: boolean): void {
    const server = this.#sql.get("SELECT name, state FROM mcp_servers WHERE server_id = ?", serverId) ?? fail(404, "MCP server not found");
    this.#tools.check(serverId, name, String(server.name), isListed || server.state === "ready");
  }

  /** A tool of a server whose tools have just been read; fails like `checkTool`. */
  requireTool(serverId: string, name: string): McpToolSummary {
    this.checkTool(serverId, name, true);
    return this.#tools.findAccepted(serverId, name)!;
  }

  generationOf(uid: number): number {
    return (this.#generations.get(uid) ?? 0) + this.#lost;
  }

  /** A transaction was rolled back. Most of those are refused writes, which have nothing to do with servers. */
  onRollback(): void {
    if (this.#isWritten) this.clearCaches();
    this.#isWritten = false;
  }

  /** Any rows may have changed: a batch was lost. */
  clearCaches(): void {
    this.#lost++;
  }

  listNamesUsing(accountId: string): string[] {
    return this.#sql.all("SELECT name FROM mcp_servers WHERE account_id = ? ORDER BY name", accountId).map((row) => String(row.name));
  }

  /** While a connection is being opened; null once that has ended. */
  setProgress(serverId: string, progress: McpProgress | null): void {
    if (progress === null) this.#progress.delete(serverId);
    else this.#progress.set(serverId, progress);
  }

  /** Stores what the server says of itself. The first time, its tools are accepted as they are. */
  recordDiscovery(serverId: string, found: McpDiscovery, now: number): void {
    const row = this.#sql.get("SELECT uid, has_tools FROM mcp_servers WHERE server_id = ?", serverId);
    if (row === undefined) return;
    this.#tools.record(serverId, found.tools, row.has_tools === 0);
    // The page of a sign-in for more rights stays while the server is ready without them.
    this.#sql.run(
      `UPDATE mcp_servers SET state = 'ready', error = NULL, auth_url = iif(state = 'ready', auth_url, NULL), has_tools = 1, left_out = ?,
         instructions = ?, capabilities = ?, resource_count = ?, prompt_count = ?, updated_at = ? WHERE server_id = ?`,
      found.leftOut,
      found.instructions,
      found.capabilities === null ? null : JSON.stringify(found.capabilities),
      found.resourceCount,
      found.promptCount,
      now,
      serverId,
    );
    this.#touch(Number(row.uid));
  }

  recordFailure(serverId: string, error: string, now: number): void {
    this.#setState(serverId, "failed", { error, page: null }, now);
  }

  /** Its owner must sign in at the page, or, where that is null, ask for such a page first. */
  recordSignIn(serverId: string, page: SignInPage | null, error: string | null, now: number): void {
    this.#setState(serverId, "authenticating", { error, page }, now);
  }

  /** Its owner may give it more rights at the page; meanwhile it is what it was. */
  setSignInPage(serverId: string, page: SignInPage | null, now: number): void {
    this.#sql.run(
      "UPDATE mcp_servers SET auth_url = ?, auth_until = ?, updated_at = ? WHERE server_id = ?",
      page?.authUrl ?? null,
      page?.until ?? null,
      now,
      serverId,
    );
    this.#touch(this.uidOf(serverId));
  }

  setCallbackUrl(serverId: string, callbackUrl: string): void {
    this.#sql.run("UPDATE mcp_servers SET callback_url = ? WHERE server_id = ?", callbackUrl, serverId);
  }

  setClientIssuer(serverId: string, issuer: string): void {
    this.#sql.run("UPDATE mcp_servers SET client_issuer = ? WHERE server_id = ?", issuer, serverId);
  }

  linkAccount(serverId: string, accountId: string, now: number): void {
    this.#sql.run("UPDATE mcp_servers SET account_id = ? WHERE server_id = ?", accountId, serverId);
    this.setSignInPage(serverId, null, now);
  }

  /** The account is gone: its servers want a sign-in. Returns whether there were any. */
  unlinkAccount(accountId: string, now: number): boolean {
    const ids = this.#sql.all("SELECT server_id FROM mcp_servers WHERE account_id = ?", accountId).map((row) => String(row.server_id));
    for (const serverId of ids) {
      this.#sql.run("UPDATE mcp_servers SET account_id = NULL WHERE server_id = ?", serverId);
      this.recordSignIn(serverId, null, null, now);
    }
    return ids.length > 0;
  }

  /** Fails if one of the tools is no longer offered with that hash. */
  accept(serverId: string, tools: readonly { name: string; hash: string }[], now: number): void {
    this.#tools.accept(serverId, tools);
    this.#sql.run("UPDATE mcp_servers SET updated_at = ? WHERE server_id = ?", now, serverId);
    this.#touch(this.uidOf(serverId));
  }

  remove(serverId: string): void {
    const uid = this.uidOf(serverId);
    this.#tools.removeOf(serverId);
    this.#sql.run("DELETE FROM mcp_servers WHERE server_id = ?", serverId);
    this.#progress.delete(serverId);
    this.#touch(uid);
  }

  #setState(serverId: string, state: StoredState, { error, page }: { error: string | null; page: SignInPage | null }, now: number): void {
    this.#sql.run("UPDATE mcp_servers SET state = ?, error = ? WHERE server_id = ?", state, error, serverId);
    this.setSignInPage(serverId, page, now);
  }

  #touch(uid: number | undefined): void {
    this.#isWritten = true;
    if (uid !== undefined) this.#generations.set(uid, (this.#generations.get(uid) ?? 0) + 1);
  }

  #toSummary(row: SqlRow, now: number): McpServerSummary {
    const serverId = String(row.server_id);
    const { tools, changes } = this.#tools.list(serverId);
    const state = row.state as StoredState;
    return {
      serverId,
      uid: Number(row.uid),
      name: String(row.name),
      url: String(row.url),
      transport: row.transport as McpTransportType,
      state: this.#progress.get(serverId) ?? state,
      // The page of a sign-in that has expired leads nowhere.
      authUrl: Number(row.auth_until) > now ? (row.auth_url as string | null) : null,
      error: row.error as string | null,
      instructions: row.instructions as string | null,
      capabilities: row.capabilities === null ? null : (JSON.parse(String(row.capabilities)) as Record<string, unknown>),
      tools: state === "ready" ? tools : [],
      changes,
      leftOut: Number(row.left_out),
      resourceCount: Number(row.resource_count),
      promptCount: Number(row.prompt_count),
      headers: row.headers === null ? [] : this.#headerNames(serverId, String(row.headers)),
      accountId: row.account_id as string | null,
      createdAt: Number(row.created_at),
      updatedAt: Number(row.updated_at),
    };
  }

  /** Those of a gateway whose key was replaced cannot be read. */
  #headerNames(serverId: string, sealed: string): string[] {
    try {
      return Object.keys(JSON.parse(this.#crypto.unseal(`${HEADERS}/${serverId}`, sealed)) as Record<string, string>);
    } catch {
      return [];
    }
  }

  #makeId(): string {
    const bytes = this.#crypto.randomBytes(ID_CHARS);
    return Array.from(bytes, (byte) => ID_ALPHABET[byte % ID_ALPHABET.length]).join("");
  }
}
