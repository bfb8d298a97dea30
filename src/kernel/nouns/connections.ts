// Sockets with an identity. Owns connections. The rows are authoritative, because the kernel may lose its memory while sockets stay
// open; the maps are caches, and are cleared whenever rights change or rows are rolled back.

import { Cache } from "../../lib/cache.ts";
import type { Sockets } from "../../ports/sockets.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { Caller, Credential } from "../../protocol/caller.ts";
import type { ConnectionIdentity, Role } from "../../protocol/records.ts";
import type { Transactor } from "../transactor.ts";
import type { Accounts } from "./accounts.ts";
import type { Capabilities } from "./capabilities.ts";
import { SERVICES_GID } from "./groups.ts";

const CACHED_MAX = 1_000;

export type ConnectionReads = Pick<Connections, "list" | "caller" | "idsOfUser" | "addressOf">;

export type NewConnection = {
  connectionId: string;
  uid: number;
  role: Role;
  clientId: string;
  clientVersion: string;
  platform: string;
  channel: string | null;
  implements: readonly string[] | null;
  credential: Credential;
  address: string;
};

type SharedIdentity = Pick<ConnectionIdentity, "process" | "capabilities">;

export type ConnectionSummary = {
  connectionId: string;
  uid: number;
  role: Role;
  clientId: string;
  clientVersion: string;
  platform: string;
  address: string;
  connectedAt: number;
  lastHeardAt: number;
  tokenId: string | null;
};

export class Connections {
  readonly #sql: Sql;
  readonly #sockets: Sockets;
  readonly #transactor: Transactor;
  readonly #accounts: Accounts;
  readonly #capabilities: Capabilities;
  readonly #callers = new Map<string, Caller>();
  /** What all connections of one user in one role have in common: most people have several, a service thousands. */
  readonly #shared = new Map<string, SharedIdentity>();
  /** Each event of a process needs the connections of its owner. */
  readonly #idsOfUsers = new Cache<string, readonly string[]>(CACHED_MAX);
  /** Whether a write may have changed the caches since the last rollback. */
  #changed = false;

  constructor(sql: Sql, sockets: Sockets, transactor: Transactor, accounts: Accounts, capabilities: Capabilities) {
    this.#sql = sql;
    this.#sockets = sockets;
    this.#transactor = transactor;
    this.#accounts = accounts;
    this.#capabilities = capabilities;
  }

  /** The caller on this socket; undefined if it has no identity. */
  caller(connectionId: string): Caller | undefined {
    const known = this.#callers.get(connectionId);
    if (known !== undefined) return known;
    const row = this.#sql.get("SELECT * FROM connections WHERE connection_id = ?", connectionId);
    if (row === undefined) return undefined;
    const caller = this.#fromRow(row);
    if (caller !== undefined) this.#callers.set(connectionId, caller);
    return caller;
  }

  /** Newest first. Without a uid, those of all users. */
  list(uid?: number): ConnectionSummary[] {
    const rows =
      uid === undefined
        ? this.#sql.all("SELECT * FROM connections ORDER BY connected_at DESC, connection_id")
        : this.#sql.all("SELECT * FROM connections WHERE uid = ? ORDER BY connected_at DESC, connection_id", uid);
    return rows.map((row) => ({
      connectionId: String(row.connection_id),
      uid: Number(row.uid),
      role: row.role as Role,
      clientId: String(row.client_id),
      clientVersion: String(row.client_version),
      platform: String(row.platform),
      address: String(row.address),
      connectedAt: Number(row.connected_at),
      lastHeardAt: this.#sockets.lastHeardAt(String(row.connection_id)),
      tokenId: row.token_id as string | null,
    }));
  }

  /** Gives a socket its identity. An older socket of the same user, role and client id is closed. */
  open(connection: NewConnection, now: number): Caller {
    this.#changed = true;
    const { connectionId, uid, role, clientId, credential } = connection;
    const older = this.#sql.all("SELECT connection_id FROM connections WHERE uid = ? AND role = ? AND client_id = ?", uid, role, clientId);
    this.close(
      older.map((row) => String(row.connection_id)),
      1000,
      "Replaced by newer connection",
    );
    this.#idsOfUsers.clear();
    this.#sql.run(
      "INSERT INTO connections VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      connectionId,
      uid,
      role,
      clientId,
      connection.clientVersion,
      connection.platform,
      connection.channel,
      connection.implements === null ? null : JSON.stringify(connection.implements),
      credential.kind === "token" ? credential.tokenId : null,
      credential.kind === "token" ? credential.expiresAt : null,
      connection.address,
      now,
    );
    return this.caller(connectionId)!;
  }

  remove(connectionId: string): void {
    this.#changed = true;
    this.#callers.delete(connectionId);
    this.#idsOfUsers.clear();
    this.#sql.run("DELETE FROM connections WHERE connection_id = ?", connectionId);
  }

  /** Removes the identity now, and closes the socket after the transaction. */
  close(connectionIds: readonly string[], code: number, reason: string): void {
    for (const connectionId of connectionIds) {
      this.remove(connectionId);
      this.#transactor.after(() => this.#sockets.close(connectionId, code, reason));
    }
  }

  idsOfToken(tokenId: string): string[] {
    return this.#queryIds("SELECT connection_id FROM connections WHERE token_id = ?", tokenId);
  }

  idsOfPasswordLogins(uid: number): string[] {
    return this.#queryIds("SELECT connection_id FROM connections WHERE uid = ? AND token_id IS NULL", uid);
  }

  idsOfUser(uid: number, role?: Role): readonly string[] {
    return this.#idsOfUsers.get(`${uid} ${role ?? ""}`, () => {
      if (role === undefined) return this.#queryIds("SELECT connection_id FROM connections WHERE uid = ?", uid);
      return this.#queryIds("SELECT connection_id FROM connections WHERE uid = ? AND role = ?", uid, role);
    });
  }

  idsOfRole(role: Role): string[] {
    return this.#queryIds("SELECT connection_id FROM connections WHERE role = ?", role);
  }

  /** The address that the peer of an open connection came from. */
  addressOf(connectionId: string): string | null {
    return (this.#sql.get("SELECT address FROM connections WHERE connection_id = ?", connectionId)?.address ?? null) as string | null;
  }

  listExpired(now: number): string[] {
    return this.#queryIds("SELECT connection_id FROM connections WHERE expires_at <= ?", now);
  }

  nextExpiryAt(): number | null {
    const due = this.#sql.get("SELECT min(expires_at) AS due FROM connections WHERE expires_at IS NOT NULL")?.due;
    return due == null ? null : Number(due);
  }

  /** The tokens that connections were opened with. */
  tokenIds(): string[] {
    return this.#sql.all("SELECT DISTINCT token_id FROM connections WHERE token_id IS NOT NULL").map((row) => String(row.token_id));
  }

  listIds(): string[] {
    return this.#queryIds("SELECT connection_id FROM connections");
  }

  /** Rights changed or rows were rolled back: the next use reads the rows again. */
  clearCaches(): void {
    this.#changed = true;
    this.#clear();
  }

  /** A write was rolled back. Most refused writes change no rights, and need not clear the caches for everybody. */
  onRollback(): void {
    if (this.#changed) this.#clear();
    this.#changed = false;
  }

  #queryIds(query: string, ...bindings: (string | number)[]): string[] {
    return this.#sql.all(query, ...bindings).map((row) => String(row.connection_id));
  }

  #clear(): void {
    this.#callers.clear();
    this.#shared.clear();
    this.#idsOfUsers.clear();
  }

  #fromRow(row: SqlRow): Caller | undefined {
    const role = row.role as Role;
    const shared = this.#sharedIdentityOf(Number(row.uid), role);
    if (shared === undefined) return undefined;
    const { process, capabilities } = shared;
    return {
      origin: role,
      uid: process.uid,
      gids: process.gids,
      username: process.username,
      capabilities,
      connectionId: String(row.connection_id),
      address: String(row.address),
      credential:
        row.token_id === null
          ? { kind: "password" }
          : { kind: "token", tokenId: String(row.token_id), expiresAt: row.expires_at as number | null },
      process,
      identity: identityOf(row, shared),
    };
  }

  #sharedIdentityOf(uid: number, role: Role): SharedIdentity | undefined {
    const key = `${role}:${uid}`;
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const account = this.#accounts.findByUid(uid);
    if (account === undefined) return undefined;
    const process = this.#accounts.identityOf(account);
    const shared = { process, capabilities: this.#capabilitiesOf(role, process.gids) };
    this.#shared.set(key, shared);
    return shared;
  }

  /** A driver may make no calls, it only answers them. A service has the capabilities of the services group, whoever owns its token. */
  #capabilitiesOf(role: Role, gids: readonly number[]): string[] {
    if (role === "driver") return [];
    return this.#capabilities.listForGroups(role === "service" ? [SERVICES_GID] : gids);
  }
}

function identityOf(row: SqlRow, shared: SharedIdentity): ConnectionIdentity {
  switch (row.role as Role) {
    case "user":
      return { role: "user", ...shared };
    case "driver":
      return { role: "driver", ...shared, device: String(row.client_id), implements: JSON.parse(String(row.implements)) as string[] };
    case "service":
      return { role: "service", ...shared, channel: String(row.channel) };
  }
}
