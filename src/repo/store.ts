// The parts of a repository that every operation uses.

import type { Sql } from "../ports/sql.ts";
import type { History } from "./history.ts";
import type { Limits } from "./limits.ts";
import type { Objects } from "./objects.ts";
import type { Refs } from "./refs.ts";

export type Store = { sql: Sql; objects: Objects; refs: Refs; history: History; limits: Limits };
