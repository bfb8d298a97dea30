// Filters for the signals on which a list is refetched, for useLatest and Latest.

import type { ChangedKind, ReceivedSignal } from "../../../src/client/client.ts";
import { SYS_CHANGED } from "../../../src/protocol/signal-names.ts";

export type SignalFilter = (sent: ReceivedSignal) => boolean;

export function makeChangeFilter(...kinds: ChangedKind[]): SignalFilter {
  return ({ signal, payload }) => signal === SYS_CHANGED && payload.changes.some((change) => kinds.includes(change));
}
