// Context for one process: the files of its assignment, given when it was started.

import { fitToSize, type ContextFile, type Section } from "./section.ts";

export function processContext(files: readonly ContextFile[], pid: string, maxBytes: number): Section[] {
  return fitToSize("process.context", files, maxBytes, `/proc/${pid}/context.d`);
}
