// Which notifications interrupt a user, by origin. Owns notification_levels. What a user has not chosen interrupts.

import type { Sql } from "../../ports/sql.ts";
import type { NotificationLevel, NotificationSource } from "../../protocol/notification-records.ts";
import { NotificationLevels, NotificationOrigin, type Threshold } from "../../protocol/push-records.ts";

export type NotificationLevelReads = Pick<NotificationLevelsOfUsers, "read">;

export class NotificationLevelsOfUsers {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  read(uid: number): NotificationLevels {
    const text = this.#sql.get("SELECT levels FROM notification_levels WHERE uid = ?", uid)?.levels;
    const chosen = typeof text === "string" ? (JSON.parse(text) as Partial<NotificationLevels>) : {};
    return NotificationLevels.parse(Object.fromEntries(NotificationOrigin.options.map((origin) => [origin, chosen[origin] ?? "all"])));
  }

  change(uid: number, levels: Partial<NotificationLevels>): NotificationLevels {
    const changed = { ...this.read(uid), ...levels };
    this.#sql.run("INSERT OR REPLACE INTO notification_levels VALUES (?, ?)", uid, JSON.stringify(changed));
    return changed;
  }
}

/** Where a notification comes from, as people distinguish it. */
export function originOf(source: NotificationSource): NotificationOrigin {
  switch (source.kind) {
    case "kernel":
      return source.topic;
    case "process":
      return "agents";
    case "app":
      return "apps";
    case "user":
      return "you";
  }
}

/** Whether somebody waits for the person. */
export function isQuestion(source: NotificationSource): boolean {
  return source.kind === "kernel" && (source.topic === "approvals" || source.topic === "budgets");
}

export function reaches(level: NotificationLevel, threshold: Threshold): boolean {
  switch (threshold) {
    case "all":
      return true;
    case "warning":
      return level === "warning" || level === "error";
    case "error":
      return level === "error";
    case "never":
      return false;
  }
}
