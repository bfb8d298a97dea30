// Context for processes in one workspace: its context files, or its summary if it has none.

import { makeSectionsWithinSize, type ContextFile, type Section } from "./section.ts";

export type WorkspaceContext = { id: string; files: readonly ContextFile[]; summary: string };

export function makeWorkspaceSections(workspace: WorkspaceContext | null, maxBytes: number): Section[] {
  if (workspace === null) return [];
  const folder = `/workspaces/${workspace.id}/.gsv`;
  if (workspace.files.length > 0) return makeSectionsWithinSize("workspace.context", workspace.files, maxBytes, `${folder}/context.d`);
  return makeSectionsWithinSize("workspace.context", [{ name: "summary.md", text: workspace.summary }], maxBytes, folder);
}
