// The migrations of a repository's database. A migration that has shipped is never edited.

import { migrate as migrateBy, type Migration } from "../../ports/migrate.ts";
import type { Sql } from "../../ports/sql.ts";
import { initial } from "./001-initial.ts";
import { results } from "./002-results.ts";
import { usage } from "./003-usage.ts";

const MIGRATIONS: readonly Migration[] = [initial, results, usage];

export function migrate(sql: Sql): void {
  migrateBy(sql, MIGRATIONS);
}
