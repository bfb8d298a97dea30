// What each call takes and answers, inferred from its declaration. Types alone: a browser loads none of it.

import type { CallTypes } from "../calls/define.ts";
import type { CallTable } from "../kernel/calls/table.ts";

export type Calls = { [N in keyof CallTable]: CallTypes<CallTable[N]> };

export type CallName = keyof Calls;
