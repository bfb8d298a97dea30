// The Meter port: counts nothing. An object's memory comes and goes, so counters kept in it would lie; the platform
// shows the operator its own.

import type { Meter } from "../../ports/log.ts";

export function cloudflareMeter(): Meter {
  return { call() {}, dropped() {} };
}
