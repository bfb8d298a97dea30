// Which notifications interrupt a user, by origin. Owns notification_levels. What a user has not chosen interrupts.

import type { Sql } from "../../ports/sql.ts";
import { NotificationLevels, NotificationOrigin } from "../../protocol/push-records.ts";

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
