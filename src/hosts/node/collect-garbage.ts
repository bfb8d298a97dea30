// Collects garbage when nothing is left to do. V8 collects while a program allocates, so one that rests after a busy time keeps what
// the busy time needed. Node offers no other way to ask for it than this flag.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Below this size there is little to gain. */
const HEAP_BYTES_MIN = 48 * 1024 * 1024;

let collect: ((options: { type: "major"; flavor: "last-resort" }) => void) | undefined;

export function collectGarbageIfLarge(): void {
  if (process.memoryUsage().heapTotal < HEAP_BYTES_MIN) return;
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as typeof collect;
  }
  collect!({ type: "major", flavor: "last-resort" });
}
