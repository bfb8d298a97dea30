// The migrations of the kernel's schema, in order. A migration that has shipped is never changed.

import { migrate as migrateBy, type Migration } from "../../ports/migrate.ts";
import type { Sql } from "../../ports/sql.ts";
import { initial } from "./001-initial.ts";
import { files } from "./002-files.ts";
import { deviceIndexes } from "./003-device-indexes.ts";
import { repositories } from "./004-repositories.ts";
import { routes } from "./005-routes.ts";
import { ledgers } from "./006-ledgers.ts";
import { processes } from "./007-processes.ts";
import { ipcConversations } from "./008-ipc-conversations.ts";
import { stops } from "./009-stops.ts";
import { tokenUse } from "./010-token-use.ts";
import { idempotencyShare } from "./011-idempotency-share.ts";
import { deviceNames } from "./012-device-names.ts";
import { usage } from "./013-usage.ts";
import { deviceMeanings } from "./014-device-meanings.ts";
import { largeRows } from "./015-large-rows.ts";
import { integrations } from "./016-integrations.ts";
import { time } from "./017-time.ts";
import { signInCodes } from "./018-sign-in-codes.ts";
import { processSettings } from "./019-process-settings.ts";
import { processOrigins } from "./020-process-origins.ts";
import { refusedCalls } from "./021-refused-calls.ts";

export const MIGRATIONS: readonly Migration[] = [
  initial,
  files,
  deviceIndexes,
  repositories,
  routes,
  ledgers,
  processes,
  ipcConversations,
  stops,
  tokenUse,
  idempotencyShare,
  deviceNames,
  usage,
  deviceMeanings,
  largeRows,
  integrations,
  time,
  signInCodes,
  processSettings,
  processOrigins,
  refusedCalls,
];

export function migrate(sql: Sql): void {
  migrateBy(sql, MIGRATIONS);
}
