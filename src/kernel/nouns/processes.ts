// All processes: their owner, profile, and state as of their last event. Owns processes. For everybody except its owner and root, a
// process does not exist.

import { Cache } from "../../lib/cache.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import { isRoot } from "../../protocol/caller.ts";
import type { ContextFile, ProcessState } from "../../protocol/proc-records.ts";

export type ProcessRow = {
  pid: string;
  uid: number;
  profile: string;
  parentPid: string | null;
  label: string | null;
  username: string;
  home: string;
  cwd: string;
  workspaceId: string | null;
  contextFiles: ContextFile[];
  state: ProcessState;
  activeRunId: string | null;
  activeConversationId: string | null;
  queuedCount: number;
  lastActiveAt: number | null;
  createdAt: number;
  isBusy: boolean;
  heardSeq: number;
};

export type NewProcess = Pick<
  ProcessRow,
  "pid" | "uid" | "profile" | "parentPid" | "label" | "username" | "home" | "cwd" | "workspaceId" | "contextFiles"
>;

/** The newest process of a workspace, and how many it has. */
export type WorkspaceProcesses = { newest: Pick<ProcessRow, "pid" | "label" | "cwd" | "createdAt">; count: number };

export type ProcessReads = Pick<Processes, "get" | "list" | "requireUsable" | "countOf" | "listBusy" | "listChildren" | "groupByWorkspace">;

export type ProcessChange = Partial<Pick<ProcessRow, "state" | "activeRunId" | "activeConversationId" | "queuedCount">>;

const CACHE_MAX = 1024;

export class Processes {
  readonly #sql: Sql;
  /** Every event and piece of an answer needs the row of its process. A rollback of rows must call `clearCaches`. */
  readonly #cache = new Cache<string, ProcessRow>(CACHE_MAX);

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Do not change the row: it is cached. */
  get(pid: string): ProcessRow | undefined {
    const known = this.#cache.find(pid);
    if (known !== undefined) return known;
    const row = this.#sql.get("SELECT * FROM processes WHERE pid = ?", pid);
    const found = row && fromRow(row);
    if (found !== undefined) this.#cache.set(pid, found);
    return found;
  }

  clearCaches(): void {
    this.#cache.clear();
  }

  /** Oldest first. Without a uid, those of all users. */
  list(uid?: number): ProcessRow[] {
    const rows =
      uid === undefined
        ? this.#sql.all("SELECT * FROM processes ORDER BY created_at, pid")
        : this.#sql.all("SELECT * FROM processes WHERE uid = ? ORDER BY created_at, pid", uid);
    return rows.map(fromRow);
  }

  listChildren(pid: string): string[] {
    return this.#sql.all("SELECT pid FROM processes WHERE parent_pid = ? ORDER BY created_at, pid", pid).map((row) => String(row.pid));
  }

  countOf(uid: number): number {
    return Number(this.#sql.get("SELECT count(*) AS count FROM processes WHERE uid = ?", uid)?.count);
  }

  /**
   * The processes that `who` may see, by workspace. A killed process is emptied and can be used again, so every process counts, whether
   * it is busy or idle.
   */
  groupByWorkspace(who: { uid: number }): Map<string, WorkspaceProcesses> {
    const columns = "SELECT workspace_id, pid, label, cwd, created_at FROM processes WHERE workspace_id IS NOT NULL";
    const rows = isRoot(who)
      ? this.#sql.all(`${columns} ORDER BY created_at, pid`)
      : this.#sql.all(`${columns} AND uid = ? ORDER BY created_at, pid`, who.uid);
    const found = new Map<string, WorkspaceProcesses>();
    for (const row of rows) {
      const { pid, workspace_id, label, cwd, created_at } = row;
      const newest = { pid: String(pid), label: label as string | null, cwd: String(cwd), createdAt: Number(created_at) };
      found.set(String(workspace_id), { newest, count: (found.get(String(workspace_id))?.count ?? 0) + 1 });
    }
    return found;
  }

  /** A process of another user fails like one that does not exist. */
  requireUsable(who: { uid: number }, pid: string): ProcessRow {
    const row = this.get(pid);
    if (row === undefined || (row.uid !== who.uid && !isRoot(who))) fail(404, `Process not found: ${pid}`);
    return row;
  }

  make(process: NewProcess, now: number): ProcessRow {
    const { pid, uid, profile, parentPid, label, username, home, cwd, workspaceId, contextFiles } = process;
    this.#sql.run(
      "INSERT INTO processes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'idle', NULL, NULL, 0, NULL, ?, 0, 0)",
      pid,
      uid,
      profile,
      parentPid,
      label,
      username,
      home,
      cwd,
      workspaceId,
      JSON.stringify(contextFiles),
      now,
    );
    return this.get(pid)!;
  }

  /** A user has a new name or home. Processes that worked in the old home now work in the new one. */
  setLabel(pid: string, label: string | null): void {
    this.#cache.clear();
    this.#sql.run("UPDATE processes SET label = ? WHERE pid = ?", label, pid);
  }

  updateIdentity(uid: number, { username, home }: { username: string; home: string }): void {
    this.#cache.clear();
    for (const { pid, home: old, cwd } of this.list(uid)) {
      const isInside = cwd === old || cwd.startsWith(`${old}/`);
      this.#sql.run(
        "UPDATE processes SET username = ?, home = ?, cwd = ? WHERE pid = ?",
        username,
        home,
        isInside ? home + cwd.slice(old.length) : cwd,
        pid,
      );
    }
  }

  /** Marks the process busy: it may have work to do. */
  markBusy(pid: string): void {
    this.#setBusy(pid, true);
  }

  markIdle(pid: string): void {
    this.#setBusy(pid, false);
  }

  #setBusy(pid: string, isBusy: boolean): void {
    const row = this.get(pid);
    if (row === undefined || row.isBusy === isBusy) return;
    this.#sql.run("UPDATE processes SET busy = ? WHERE pid = ?", isBusy ? 1 : 0, pid);
    this.#cache.set(pid, { ...row, isBusy });
  }

  listBusy(): string[] {
    return this.#sql.all("SELECT pid FROM processes WHERE busy = 1").map((row) => String(row.pid));
  }

  /** Records what the events up to this one have changed. */
  recordEvents(pid: string, seq: number, change: ProcessChange, now: number): void {
    const old = this.get(pid);
    if (old === undefined || seq <= old.heardSeq) return;
    const next = { ...old, ...change, heardSeq: seq, lastActiveAt: now };
    this.#sql.run(
      `UPDATE processes SET heard_seq = ?, state = ?, active_run_id = ?, active_conversation_id = ?, queued_count = ?, last_active_at = ?
       WHERE pid = ?`,
      seq,
      next.state,
      next.activeRunId,
      next.activeConversationId,
      next.queuedCount,
      now,
      pid,
    );
    this.#cache.set(pid, next);
  }
}

function fromRow(row: SqlRow): ProcessRow {
  return {
    pid: String(row.pid),
    uid: Number(row.uid),
    profile: String(row.profile),
    parentPid: row.parent_pid as string | null,
    label: row.label as string | null,
    username: String(row.username),
    home: String(row.home),
    cwd: String(row.cwd),
    workspaceId: row.workspace_id as string | null,
    contextFiles: JSON.parse(String(row.context_files)) as ContextFile[],
    state: row.state as ProcessState,
    activeRunId: row.active_run_id as string | null,
    activeConversationId: row.active_conversation_id as string | null,
    queuedCount: Number(row.queued_count),
    lastActiveAt: row.last_active_at as number | null,
    createdAt: Number(row.created_at),
    isBusy: row.busy === 1,
    heardSeq: Number(row.heard_seq),
  };
}

/** The pid of the long-lived process that every user has. */
export function initPidOf(uid: number): string {
  return `init:${uid}`;
}
