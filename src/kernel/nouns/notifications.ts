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
  /** How many more of a user surely fit. Rows that are removed are not added, nor those that a rollback takes back. */
  readonly #room = new Map<number, number>();

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  create(uid: number, { title, body, level, actions, source, ttlMs, about }: NewNotification, now: number): NotificationRecord {
    if (about !== undefined) this.#sql.run("DELETE FROM notifications WHERE uid = ? AND about = ?", uid, about);
    this.#makeRoom(uid);
    const notificationId = this.#crypto.uuid();
    const expiresAt = now + Math.floor(Math.min(TTL_MS_MAX, Math.max(TTL_MS_MIN, ttlMs ?? UNREAD_MS)));
    this.#sql.run(
      "INSERT INTO notifications VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?)",
      notificationId,
      uid,
      title,
      body ?? null,
      level,
      JSON.stringify(source),
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

  /** Null if the user has no such notification. One that was read before stays as it is. */
  markRead(uid: number, notificationId: string, now: number): NotificationRecord | null {
    this.#sql.run(
      `UPDATE notifications SET read_at = ?2, expires_at = ?4
       WHERE uid = ?1 AND notification_id = ?3 AND read_at IS NULL AND dismissed_at IS NULL AND ${IS_LIVE}`,
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
    return removed < PRUNE_BATCH;
  }

  nextPruneAt(): number | null {
    const due = this.#sql.get("SELECT min(expires_at) AS due FROM notifications")?.due;
    return due == null ? null : Number(due);
  }

  /** Counts all of the user's, so not for each: for so many as fitted the last time, there is room. */
  #makeRoom(uid: number): void {
    const room = this.#room.get(uid) ?? 0;
    this.#room.set(uid, Math.max(0, room - 1));
    if (room > 0) return;
    const oldest = this.#sql.get(
      "SELECT created_at FROM notifications WHERE uid = ? ORDER BY created_at DESC LIMIT 1 OFFSET ?",
      uid,
      LIMITS.notificationsPerUser - 1,
    );
    if (oldest !== undefined) this.#sql.run("DELETE FROM notifications WHERE uid = ? AND created_at <= ?", uid, oldest.created_at!);
    const count = Number(this.#sql.get("SELECT count(*) AS count FROM notifications WHERE uid = ?", uid)?.count);
    this.#room.set(uid, LIMITS.notificationsPerUser - 1 - count);
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
