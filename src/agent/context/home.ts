// Context for all processes of a user: ~/context.d. Not templates, because the user and their agents write these files.

import { makeSectionsWithinSize, type ContextFile, type Section } from "./section.ts";

export function makeHomeSections(files: readonly ContextFile[], maxBytes: number): Section[] {
  return makeSectionsWithinSize("home.context", files, maxBytes, "~/context.d");
}
