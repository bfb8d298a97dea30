// The arguments and results of each call, inferred from its declaration. Only types: a browser loads none of it.

import type { CallTypes } from "../calls/define.ts";
import type { CallTable } from "../kernel/calls/table.ts";

export type Calls = { [N in keyof CallTable]: CallTypes<CallTable[N]> };

export type CallName = keyof Calls;
