// Context for all processes of a user: ~/context.d. Not templates, because the user and their agents write these files.

import { fitToSize, type ContextFile, type Section } from "./section.ts";

export function homeContext(files: readonly ContextFile[], maxBytes: number): Section[] {
  return fitToSize("home.context", files, maxBytes, "~/context.d");
}
