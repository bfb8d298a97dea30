// Context for one process: the files of its assignment, given when it was started.

import { makeSectionsWithinSize, type ContextFile, type Section } from "./section.ts";

export function makeProcessSections(files: readonly ContextFile[], pid: string, maxBytes: number): Section[] {
  return makeSectionsWithinSize("process.context", files, maxBytes, `/proc/${pid}/context.d`);
}
