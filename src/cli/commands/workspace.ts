// gsv workspace: lists and creates workspaces.

import { relative } from "../terminal/durations.ts";
import { type Globals, withClient } from "../session/session.ts";
import { note, say, sayJson, sayTable } from "../terminal/terminal.ts";

export async function workspaceList(flags: Globals & { all?: boolean }): Promise<void> {
  const { workspaces } = await withClient(flags, (client) => client.call("sys.workspace.list", flags.all ? {} : { state: "active" }));
  if (flags.json) return sayJson({ workspaces });
  sayTable(
    ["WORKSPACE", "LABEL", "KIND", "STATE", "PROCESSES", "USED"],
    workspaces.map(({ workspaceId, label, kind, state, processCount, updatedAt }) => [
      workspaceId,
      label ?? "-",
      kind,
      state,
      processCount,
      relative(updatedAt, "-"),
    ]),
  );
}

export async function workspaceCreate(flags: Globals, [label]: readonly string[]): Promise<void> {
  const made = await withClient(flags, (client) => client.call("sys.workspace.create", label === undefined ? {} : { label }));
  if (flags.json) return sayJson(made);
  note(`Created a workspace; its files are in the repository ${made.repo}.`);
  say(made.workspace.workspaceId);
}
