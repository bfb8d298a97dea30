// Workspaces: directories that outlive a process. Owns workspaces; the files of a workspace are in its repository,
// <owner>/<workspaceId>. For everybody except its owner and root, a workspace does not exist.

import { fail } from "../../lib/sys-error.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import { isRoot } from "../../protocol/caller.ts";
import type { WorkspaceKind, WorkspaceState } from "../../protocol/repo-records.ts";
import { WORKSPACE_PREFIX } from "./repositories.ts";

export type Workspace = {
  workspaceId: string;
  ownerUid: number;
  label: string | null;
  kind: WorkspaceKind;
  state: WorkspaceState;
  createdAt: number;
  updatedAt: number;
};

export type WorkspaceReads = Pick<Workspaces, "get" | "list" | "find" | "requireUsable">;

export class Workspaces {
  readonly #sql: Sql;
  readonly #crypto: Crypto;

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  get(workspaceId: string): Workspace | undefined {
    const row = this.#sql.get("SELECT * FROM workspaces WHERE workspace_id = ?", workspaceId);
    return row && fromRow(row);
  }

  /** Last used first. Without a uid, those of all users. */
  list(ownerUid?: number): Workspace[] {
    const rows =
      ownerUid === undefined
        ? this.#sql.all("SELECT * FROM workspaces ORDER BY updated_at DESC, workspace_id")
        : this.#sql.all("SELECT * FROM workspaces WHERE owner_uid = ? ORDER BY updated_at DESC, workspace_id", ownerUid);
    return rows.map(fromRow);
  }

  /** Undefined if it does not exist or belongs to another user. */
  find(who: { uid: number }, workspaceId: string): Workspace | undefined {
    const workspace = this.get(workspaceId);
    return workspace !== undefined && (workspace.ownerUid === who.uid || isRoot(who)) ? workspace : undefined;
  }

  requireUsable(who: { uid: number }, workspaceId: string): Workspace {
    return this.find(who, workspaceId) ?? fail(404, `Workspace not found: ${workspaceId}`);
  }

  make(ownerUid: number, label: string | null, kind: WorkspaceKind, now: number): Workspace {
    const workspaceId = `${WORKSPACE_PREFIX}${this.#crypto.uuid()}`;
    this.#sql.run("INSERT INTO workspaces VALUES (?, ?, ?, ?, 'active', ?, ?)", workspaceId, ownerUid, label, kind, now, now);
    return this.get(workspaceId)!;
  }

  update(workspaceId: string, { label, state }: { label: string | null; state: WorkspaceState }, now: number): Workspace {
    this.#sql.run("UPDATE workspaces SET label = ?, state = ?, updated_at = ? WHERE workspace_id = ?", label, state, now, workspaceId);
    return this.get(workspaceId)!;
  }

  touch(workspaceId: string, now: number): void {
    this.#sql.run("UPDATE workspaces SET updated_at = ? WHERE workspace_id = ?", now, workspaceId);
  }
}

function fromRow(row: SqlRow): Workspace {
  return {
    workspaceId: String(row.workspace_id),
    ownerUid: Number(row.owner_uid),
    label: row.label as string | null,
    kind: row.kind as WorkspaceKind,
    state: row.state as WorkspaceState,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}
