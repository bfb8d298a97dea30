// Notifications of users. Owns notifications. An expired one does not exist for anybody, though its row may remain for a while.

import type { Crypto } from "../../ports/crypto.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { NotificationAction, NotificationLevel, NotificationRecord, NotificationSource } from "../../protocol/notification-records.ts";

export type NewNotification = {
  title: string;
  body?: string | undefined;
  level: NotificationLevel;
  actions: readonly NotificationAction[];
  source: NotificationSource;
  ttlMs?: number | undefined;
  /** What it is about. It replaces an older one about the same. */
  about?: string;
};

export type NotificationReads = Pick<Notifications, "find" | "list" | "countUnread">;

const SECOND_MS = 1_000;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;
const UNREAD_MS = 30 * DAY_MS;
const TTL_MS_MIN = SECOND_MS;
const TTL_MS_MAX = 90 * DAY_MS;
const READ_MS = 7 * DAY_MS;
const DISMISSED_MS = 3 * DAY_MS;
/** Beyond this the number of unread notifications is not counted. */
const UNREAD_COUNT_MAX = 1_000;
const PRUNE_BATCH = 1_000;

const IS_LIVE = "expires_at > ?2";

export class Notifications {
  readonly #sql: Sql;
  readonly #crypto: Crypto;
  /** How many more of a user fit, by user and kind: counted once. */
  readonly #room = new Map<string, number>();

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  create(uid: number, { title, body, level, actions, source, ttlMs, about }: NewNotification, now: number): NotificationRecord {
    const replaced = about === undefined ? 0 : this.#sql.run("DELETE FROM notifications WHERE uid = ? AND about = ?", uid, about);
    const isKernel = source.kind === "kernel" ? 1 : 0;
    this.#makeRoom(uid, isKernel, replaced);
    const notificationId = this.#crypto.uuid();
    const expiresAt = now + Math.floor(Math.min(TTL_MS_MAX, Math.max(TTL_MS_MIN, ttlMs ?? UNREAD_MS)));
    this.#sql.run(
      "INSERT INTO notifications VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?)",
      notificationId,
      uid,
      title,
      body ?? null,
      level,
      JSON.stringify(source),
      isKernel,
      JSON.stringify(actions),
      about ?? null,
      now,
      expiresAt,
    );
    return this.find(uid, notificationId, now)!;
  }

  find(uid: number, notificationId: string, now: number): NotificationRecord | undefined {
    const row = this.#sql.get(
      `SELECT * FROM notifications WHERE uid = ?1 AND notification_id = ?3 AND ${IS_LIVE}`,
      uid,
      now,
      notificationId,
    );
    return row && fromRow(row);
  }

  /** Newest first. */
  list(
    uid: number,
    { includeRead, includeDismissed, limit }: { includeRead: boolean; includeDismissed: boolean; limit: number },
    now: number,
  ): NotificationRecord[] {
    const conditions = [...(includeRead ? [] : ["read_at IS NULL"]), ...(includeDismissed ? [] : ["dismissed_at IS NULL"]), IS_LIVE];
    return this.#sql
      .all(
        `SELECT * FROM notifications WHERE uid = ?1 AND ${conditions.join(" AND ")} ORDER BY created_at DESC, notification_id LIMIT ?3`,
        uid,
        now,
        limit,
      )
      .map(fromRow);
  }

  /** At most a thousand are counted. */
  countUnread(uid: number, now: number): number {
    const row = this.#sql.get(
      `SELECT count(*) AS count FROM
         (SELECT 1 FROM notifications WHERE uid = ?1 AND read_at IS NULL AND dismissed_at IS NULL AND ${IS_LIVE} LIMIT ?3)`,
      uid,
      now,
      UNREAD_COUNT_MAX,
    );
    return Number(row?.count);
  }

  /**
   * Null if the user has no such notification. One that was read before is read since then, and lives for another week; one that was
   * dismissed does not live longer.
   */
  markRead(uid: number, notificationId: string, now: number): NotificationRecord | null {
    this.#sql.run(
      `UPDATE notifications SET read_at = coalesce(read_at, ?2), expires_at = CASE WHEN dismissed_at IS NULL THEN ?4 ELSE expires_at END
       WHERE uid = ?1 AND notification_id = ?3 AND ${IS_LIVE}`,
      uid,
      now,
      notificationId,
      now + READ_MS,
    );
    return this.find(uid, notificationId, now) ?? null;
  }

  /** Null if the user has no such notification. One that was dismissed before stays as it is. */
  dismiss(uid: number, notificationId: string, now: number): NotificationRecord | null {
    this.#sql.run(
      `UPDATE notifications SET dismissed_at = ?2, expires_at = ?4
       WHERE uid = ?1 AND notification_id = ?3 AND dismissed_at IS NULL AND ${IS_LIVE}`,
      uid,
      now,
      notificationId,
      now + DISMISSED_MS,
    );
    return this.find(uid, notificationId, now) ?? null;
  }

  /** What it is about is over. Returns it if it was not dismissed before. */
  dismissAbout(uid: number, about: string, now: number): NotificationRecord | null {
    const row = this.#sql.get(
      `SELECT notification_id FROM notifications WHERE uid = ?1 AND about = ?3 AND dismissed_at IS NULL AND ${IS_LIVE}`,
      uid,
      now,
      about,
    );
    return row === undefined ? null : this.dismiss(uid, String(row.notification_id), now);
  }

  prune(now: number): boolean {
    const removed = this.#sql.run(
      "DELETE FROM notifications WHERE rowid IN (SELECT rowid FROM notifications WHERE expires_at <= ? LIMIT ?)",
      now,
      PRUNE_BATCH,
    );
    if (removed > 0) this.#room.clear();
    return removed < PRUNE_BATCH;
  }

  nextPruneAt(): number | null {
    const due = this.#sql.get("SELECT min(expires_at) AS due FROM notifications")?.due;
    return due == null ? null : Number(due);
  }

  /**
   * The kernel's own are counted separately, so that nobody pushes them out. Counting takes longer the more there are, so it is not done
   * each time; after a rollback the number may be a little wrong.
   */
  #makeRoom(uid: number, isKernel: number, replaced: number): void {
    const key = `${uid} ${isKernel}`;
    const known = this.#room.get(key);
    const room = known === undefined ? this.#countRoom(uid, isKernel) : known + replaced;
    if (room < 1)
      this.#sql.run(
        `DELETE FROM notifications WHERE rowid IN
           (SELECT rowid FROM notifications WHERE uid = ? AND is_kernel = ? ORDER BY created_at, rowid LIMIT ?)`,
        uid,
        isKernel,
        1 - room,
      );
    this.#room.set(key, Math.max(1, room) - 1);
  }

  #countRoom(uid: number, isKernel: number): number {
    const row = this.#sql.get("SELECT count(*) AS count FROM notifications WHERE uid = ? AND is_kernel = ?", uid, isKernel);
    return LIMITS.notificationsPerUser - Number(row?.count);
  }
}

function fromRow(row: SqlRow): NotificationRecord {
  return {
    notificationId: String(row.notification_id),
    title: String(row.title),
    ...(row.body === null ? {} : { body: String(row.body) }),
    level: row.level as NotificationLevel,
    createdAt: Number(row.created_at),
    readAt: row.read_at as number | null,
    dismissedAt: row.dismissed_at as number | null,
    expiresAt: Number(row.expires_at),
    actions: JSON.parse(String(row.actions)) as NotificationAction[],
    source: JSON.parse(String(row.source)) as NotificationSource,
  };
}
