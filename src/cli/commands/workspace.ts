// gsv workspace: lists and creates workspaces.

import { formatRelativeTime } from "../terminal/durations.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printNote, printText, printJson, printTable } from "../terminal/terminal.ts";

export async function workspaceList(flags: Globals & { all?: boolean }): Promise<void> {
  const { workspaces } = await withClient(flags, (client) => client.call("sys.workspace.list", flags.all ? {} : { state: "active" }));
  if (flags.json) return printJson({ workspaces });
  printTable(
    ["WORKSPACE", "LABEL", "KIND", "STATE", "PROCESSES", "USED"],
    workspaces.map(({ workspaceId, label, kind, state, processCount, updatedAt }) => [
      workspaceId,
      label ?? "-",
      kind,
      state,
      processCount,
      formatRelativeTime(updatedAt, "-"),
    ]),
  );
}

export async function workspaceCreate(flags: Globals, [label]: readonly string[]): Promise<void> {
  const made = await withClient(flags, (client) => client.call("sys.workspace.create", label === undefined ? {} : { label }));
  if (flags.json) return printJson(made);
  printNote(`Created a workspace; its files are in the repository ${made.repo}.`);
  printText(made.workspace.workspaceId);
}
