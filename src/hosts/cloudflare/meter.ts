// The Meter port: counts nothing. An object's memory comes and goes, so counters in it would be wrong; the platform shows the
// operator its own.

import type { Meter } from "../../ports/log.ts";

export function makeCloudflareMeter(): Meter {
  return { countCall() {}, countDropped() {} };
}
