// How many bytes each user stores, as running totals, so that a write need not sum up all files. Owns usage and upload_parts. The nouns
// whose rows count update the totals in the same transaction. Enforces nothing: kernel/files/quotas.ts decides who may store more.

import { uploadStorageBytes } from "../../lib/row-bytes.ts";
import type { Sql } from "../../ports/sql.ts";

export type UsageReads = Pick<Usage, "bytesOf" | "list" | "uploadPartsOf">;

type UsageKind = "file_bytes" | "part_bytes" | "repo_bytes";

export class Usage {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  bytesOf(uid: number): number {
    return Number(this.#sql.get("SELECT file_bytes + part_bytes + repo_bytes AS bytes FROM usage WHERE uid = ?", uid)?.bytes ?? 0);
  }

  list(): { uid: number; bytes: number }[] {
    return this.#sql
      .all("SELECT uid, file_bytes + part_bytes + repo_bytes AS bytes FROM usage ORDER BY uid")
      .map(({ uid, bytes }) => ({ uid: Number(uid), bytes: Number(bytes) }));
  }

  addFileBytes(uid: number, bytes: number): void {
    this.#add(uid, "file_bytes", bytes);
  }

  addRepoBytes(uid: number, bytes: number): void {
    this.#add(uid, "repo_bytes", bytes);
  }

  /** Counts a part: the full size when an upload starts, the received bytes once it is interrupted. */
  setPart(part: string, uid: number, size: number, now: number): void {
    this.dropPart(part);
    const bytes = uploadStorageBytes(size);
    this.#sql.run("INSERT INTO upload_parts VALUES (?, ?, ?, ?)", part, uid, bytes, now);
    this.#add(uid, "part_bytes", bytes);
  }

  /** Oldest first. */
  uploadPartsOf(uid: number): string[] {
    return this.#sql.all("SELECT part FROM upload_parts WHERE uid = ? ORDER BY at, part", uid).map(({ part }) => String(part));
  }

  dropPart(part: string): void {
    const row = this.#sql.get("SELECT uid, bytes FROM upload_parts WHERE part = ?", part);
    if (row === undefined) return;
    this.#sql.run("DELETE FROM upload_parts WHERE part = ?", part);
    this.#add(Number(row.uid), "part_bytes", -Number(row.bytes));
  }

  /** Stops counting the parts of interrupted uploads from before a time, which are deleted. */
  dropPartsBefore(before: number): void {
    for (const { part } of this.#sql.all("SELECT part FROM upload_parts WHERE at < ?", before)) this.dropPart(String(part));
  }

  #add(uid: number, kind: UsageKind, bytes: number): void {
    if (bytes === 0) return;
    if (this.#sql.run(`UPDATE usage SET ${kind} = ${kind} + ? WHERE uid = ?`, bytes, uid) > 0) return;
    this.#sql.run("INSERT INTO usage VALUES (?, 0, 0, 0)", uid);
    this.#sql.run(`UPDATE usage SET ${kind} = ? WHERE uid = ?`, bytes, uid);
  }
}
