// Context for one process: the files of its assignment, given when it was started.

import { fitToBudget, type ContextFile, type Section } from "./section.ts";

export function processContext(files: readonly ContextFile[], pid: string, maxBytes: number): Section[] {
  return fitToBudget("process.context", files, maxBytes, `/proc/${pid}/context.d`);
}
