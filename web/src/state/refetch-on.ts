// Which signals of the gateway mean that a list is to be read again, for useLatest and Latest.

import type { ChangedKind, ReceivedSignal } from "../../../src/client/client.ts";
import { SYS_CHANGED } from "../../../src/protocol/signal-names.ts";

export type Hears = (sent: ReceivedSignal) => boolean;

export function hears(...lists: ChangedKind[]): Hears {
  return ({ signal, payload }) => signal === SYS_CHANGED && payload.changes.some((change) => lists.includes(change));
}
