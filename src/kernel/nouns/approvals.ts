// Questions to people about calls and budgets of agents, with their answers, and grants. Owns approvals and grants. An approval covers
// one call: it is marked used in a transaction before the call starts.

import type { Grant, Scope } from "../../approval/grants.ts";
import { NATIVE } from "../../lib/target.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";

export type ApprovalState =
  | "pending"
  | "approved"
  | "denied"
  /** The approved call has started. */
  | "used"
  | "expired"
  /** Its run is over, so nobody needs the answer. */
  | "withdrawn";

export type Approval = {
  requestId: string;
  uid: number;
  pid: string;
  kind: "call" | "budget";
  runId: string;
  conversationId: string;
  callId: string;
  toolName: string;
  syscall: string;
  args: Record<string, unknown>;
  target: string;
  cwd: string;
  digest: string;
  tags: string[];
  why: string;
  state: ApprovalState;
  createdAt: number;
  expiresAt: number;
  decidedAt: number | null;
  decidedBy: number | null;
  reason: string | null;
};

export type NewApproval = Omit<Approval, "state" | "decidedAt" | "decidedBy" | "reason">;
export type StoredGrant = Grant & { grantId: string; requestId: string };

export type ApprovalReads = Pick<
  Approvals,
  | "get"
  | "findByCall"
  | "listPending"
  | "listPendingOfUser"
  | "listClosed"
  | "findSameQuestion"
  | "grantsOf"
  | "grantsOfUser"
  | "getGrant"
  | "listUnnotified"
  | "nextDueAt"
>;

const KEEP_MS = 30 * 24 * 60 * 60 * 1000;
const PRUNE_BATCH = 500;

/** A grant without its approval row does not count. */
const GRANTS = "SELECT grants.*, approvals.tags AS tags FROM grants JOIN approvals ON approvals.request_id = grants.request_id";
/** Questions that are closed, whose process was notified, and that no grant refers to. */
const PRUNABLE = "state <> 'pending' AND told = 1 AND request_id NOT IN (SELECT request_id FROM grants)";
const IS_ACTIVE = "grants.revoked_at IS NULL AND grants.expires_at > ?1";

export class Approvals {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get(requestId: string): Approval | undefined {
    const row = this.#sql.get("SELECT * FROM approvals WHERE request_id = ?", requestId);
    return row && fromRow(row);
  }

  /** The newest question about a call of a process. */
  findByCall(pid: string, callId: string): Approval | undefined {
    const row = this.#sql.get("SELECT * FROM approvals WHERE pid = ? AND call_id = ? ORDER BY created_at DESC LIMIT 1", pid, callId);
    return row && fromRow(row);
  }

  /** Oldest first. */
  listPending(pid: string): Approval[] {
    return this.#sql.all("SELECT * FROM approvals WHERE pid = ? AND state = 'pending' ORDER BY created_at, request_id", pid).map(fromRow);
  }

  /** Oldest first. Without a uid, those of all users. */
  listPendingOfUser(uid?: number): Approval[] {
    const rows =
      uid === undefined
        ? this.#sql.all("SELECT * FROM approvals WHERE state = 'pending' ORDER BY created_at, request_id")
        : this.#sql.all("SELECT * FROM approvals WHERE uid = ? AND state = 'pending' ORDER BY created_at, request_id", uid);
    return rows.map(fromRow);
  }

  /** Closed questions, newest first. */
  listClosed(uid: number | undefined, before: number, limit: number): Approval[] {
    const rows =
      uid === undefined
        ? this.#sql.all(
            "SELECT * FROM approvals WHERE state <> 'pending' AND created_at < ? ORDER BY created_at DESC, request_id LIMIT ?",
            before,
            limit,
          )
        : this.#sql.all(
            "SELECT * FROM approvals WHERE uid = ? AND state <> 'pending' AND created_at < ? ORDER BY created_at DESC, request_id LIMIT ?",
            uid,
            before,
            limit,
          );
    return rows.map(fromRow);
  }

  /** An open question of the run with the same digest. */
  findSameQuestion(pid: string, runId: string, digest: string): Approval | undefined {
    return this.listPending(pid).find((open) => open.runId === runId && open.digest === digest);
  }

  addQuestion(approval: NewApproval): Approval {
    this.#sql.run(
      "INSERT INTO approvals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, NULL, NULL, NULL, 1)",
      approval.requestId,
      approval.uid,
      approval.pid,
      approval.kind,
      approval.runId,
      approval.conversationId,
      approval.callId,
      approval.toolName,
      approval.syscall,
      JSON.stringify(approval.args),
      approval.target,
      approval.cwd,
      approval.digest,
      JSON.stringify(approval.tags),
      approval.why,
      approval.createdAt,
      approval.expiresAt,
    );
    return this.get(approval.requestId)!;
  }

  decide(requestId: string, state: "approved" | "denied", by: number, reason: string | null, now: number): void {
    this.#sql.run(
      "UPDATE approvals SET state = ?, decided_at = ?, decided_by = ?, reason = ?, told = 0 WHERE request_id = ? AND state = 'pending'",
      state,
      now,
      by,
      reason,
      requestId,
    );
  }

  /** False if the question was not approved, or the approval was used before. */
  markUsed(requestId: string): boolean {
    return this.#sql.run("UPDATE approvals SET state = 'used', told = 1 WHERE request_id = ? AND state = 'approved'", requestId) > 0;
  }

  markNotified(requestId: string): void {
    this.#sql.run("UPDATE approvals SET told = 1 WHERE request_id = ?", requestId);
  }

  /** Answered questions whose processes may not have been notified. */
  listUnnotified(): Approval[] {
    return this.#sql.all("SELECT * FROM approvals WHERE told = 0").map(fromRow);
  }

  /** False if no question was open. */
  withdraw(pid: string, runId: string, now: number, isMeant: (callId: string) => boolean = () => true): string[] {
    const open = this.listPending(pid).filter((one) => one.runId === runId && isMeant(one.callId));
    for (const { requestId } of open)
      this.#sql.run("UPDATE approvals SET state = 'withdrawn', decided_at = ?, told = 1 WHERE request_id = ?", now, requestId);
    return open.map(({ requestId }) => requestId);
  }

  /** Expires and returns the questions that nobody answered in time. */
  expire(now: number): Approval[] {
    const due = this.#sql.all("SELECT * FROM approvals WHERE state = 'pending' AND expires_at <= ?", now).map(fromRow);
    for (const { requestId } of due)
      this.#sql.run("UPDATE approvals SET state = 'expired', decided_at = ?, told = 0 WHERE request_id = ?", now, requestId);
    return due;
  }

  nextDueAt(): number | null {
    const due = this.#sql.get("SELECT min(expires_at) AS due FROM approvals WHERE state = 'pending'")?.due;
    return due == null ? null : Number(due);
  }

  grantsOf(pid: string, syscall: string): StoredGrant[] {
    return this.#sql.all(`${GRANTS} WHERE grants.pid = ? AND grants.syscall = ?`, pid, syscall).map(grantFromRow);
  }

  /** Active grants, newest first. Without a uid, those of all users. */
  grantsOfUser(uid: number | undefined, now: number): StoredGrant[] {
    const rows =
      uid === undefined
        ? this.#sql.all(`${GRANTS} WHERE ${IS_ACTIVE} ORDER BY made_at DESC, grant_id`, now)
        : this.#sql.all(`${GRANTS} WHERE ${IS_ACTIVE} AND grants.uid = ?2 ORDER BY made_at DESC, grant_id`, now, uid);
    return rows.map(grantFromRow);
  }

  getGrant(grantId: string): StoredGrant | undefined {
    const row = this.#sql.get(`${GRANTS} WHERE grant_id = ?`, grantId);
    return row && grantFromRow(row);
  }

  addGrant(grant: StoredGrant): void {
    const { grantId, uid, pid, call, target, scope, digest, folder, requestId, madeAt, expiresAt } = grant;
    this.#sql.run(
      "INSERT INTO grants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
      grantId,
      uid,
      pid,
      call,
      target,
      scope,
      digest,
      folder,
      requestId,
      madeAt,
      expiresAt,
    );
  }

  /** False if the grant is not active. */
  revokeGrant(grantId: string, now: number): boolean {
    return (
      this.#sql.run("UPDATE grants SET revoked_at = ? WHERE grant_id = ? AND revoked_at IS NULL AND expires_at > ?", now, grantId, now) > 0
    );
  }

  /** Revokes grants for a device whose name may now mean another one. Returns the uids of their users. */
  revokeGrantsForDevice({ owner, own, others }: { owner: number; own: string; others: string }, now: number): number[] {
    const which = `((uid = ?2 AND target = ?3) OR (uid <> ?2 AND target = ?4)) AND ${IS_ACTIVE}`;
    const holders = this.#sql.all(`SELECT DISTINCT uid FROM grants WHERE ${which}`, now, owner, own, others);
    this.#sql.run(`UPDATE grants SET revoked_at = ?1 WHERE ${which}`, now, owner, own, others);
    return holders.map((row) => Number(row.uid));
  }

  /**
   * Revokes grants for a tool of an MCP server, or for all whose description ends like this, and those for commands of the gateway in which
   * `mcp` occurs. Returns whether there were any.
   */
  revokeGrantsForTool(uid: number, target: string, isEnding: boolean, now: number): boolean {
    const isTool = `syscall = 'sys.mcp.call' AND ${isEnding ? "substr(target, -length(?3)) = ?3" : "target = ?3"}`;
    const isCommand = `syscall = 'shell.exec' AND target = '${NATIVE}'
      AND request_id IN (SELECT request_id FROM approvals WHERE uid = ?2 AND instr(args, 'mcp') > 0)`;
    return (
      this.#sql.run(
        `UPDATE grants SET revoked_at = ?1 WHERE uid = ?2 AND ((${isTool}) OR (${isCommand})) AND ${IS_ACTIVE}`,
        now,
        uid,
        target,
      ) > 0
    );
  }

  /** Deletes old rows, a batch at a time. The question that a grant was made for stays as long as the grant. */
  prune(now: number): void {
    const old = now - KEEP_MS;
    this.#sql.run(
      `DELETE FROM approvals WHERE request_id IN (SELECT request_id FROM approvals WHERE ${PRUNABLE} AND created_at < ? LIMIT ?)`,
      old,
      PRUNE_BATCH,
    );
    this.#sql.run("DELETE FROM grants WHERE grant_id IN (SELECT grant_id FROM grants WHERE expires_at < ? LIMIT ?)", old, PRUNE_BATCH);
  }

  nextPruneAt(): number | null {
    const oldestQuestion = this.#sql.get(`SELECT min(created_at) AS at FROM approvals WHERE ${PRUNABLE}`)?.at;
    const oldestGrant = this.#sql.get("SELECT min(expires_at) AS at FROM grants")?.at;
    const due = [oldestQuestion, oldestGrant].filter((at) => at != null).map((at) => Number(at) + KEEP_MS);
    return due.length === 0 ? null : Math.min(...due);
  }
}

function fromRow(row: SqlRow): Approval {
  return {
    requestId: String(row.request_id),
    uid: Number(row.uid),
    pid: String(row.pid),
    kind: row.kind as Approval["kind"],
    runId: String(row.run_id),
    conversationId: String(row.conversation_id),
    callId: String(row.call_id),
    toolName: String(row.tool_name),
    syscall: String(row.syscall),
    args: JSON.parse(String(row.args)) as Approval["args"],
    target: String(row.target),
    cwd: String(row.cwd),
    digest: String(row.digest),
    tags: JSON.parse(String(row.tags)) as string[],
    why: String(row.why),
    state: row.state as ApprovalState,
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    decidedAt: row.decided_at as number | null,
    decidedBy: row.decided_by as number | null,
    reason: row.reason as string | null,
  };
}

function grantFromRow(row: SqlRow): StoredGrant {
  return {
    grantId: String(row.grant_id),
    requestId: String(row.request_id),
    uid: Number(row.uid),
    pid: String(row.pid),
    call: String(row.syscall),
    target: String(row.target),
    scope: row.scope as Scope,
    digest: String(row.digest),
    folder: row.folder as string | null,
    tags: JSON.parse(String(row.tags)) as string[],
    madeAt: Number(row.made_at),
    expiresAt: Number(row.expires_at),
    revokedAt: row.revoked_at as number | null,
  };
}
