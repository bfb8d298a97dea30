// Renames, archives or reactivates a workspace.

import { z } from "zod";
import { WorkspaceRecord, WorkspaceState } from "../../../../protocol/repo-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.workspace.update",
  doc: "Set a workspace's label (null for none) or state. An archived workspace keeps its files and cannot be changed.",
  runs: "kernel",
  does: "write",
  changes: "workspaces",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    workspaceId: z.string().min(1).max(128),
    label: z.string().trim().min(1).max(200).nullable().optional(),
    state: WorkspaceState.optional(),
  }),
  result: z.object({ workspace: WorkspaceRecord }),
  fails: { 404: "no such workspace, or another user's" },
  example: {
    args: { workspaceId: "ws_0b54bd1c-5f57-4a5e-8a8c-0d8e4b1f2a33", state: "archived" },
    result: {
      workspace: {
        workspaceId: "ws_0b54bd1c-5f57-4a5e-8a8c-0d8e4b1f2a33",
        ownerUid: 1000,
        label: "taxes",
        kind: "thread",
        state: "archived",
        createdAt: 1763200000000,
        updatedAt: 1763200000000,
      },
    },
  },
  run({ workspaces, repositories, accounts, now }, caller, { workspaceId, label, state }) {
    const current = workspaces.requireUsable(caller, workspaceId);
    const change = { label: label === undefined ? current.label : label, state: state ?? current.state };
    const owner = accounts.findByUid(current.ownerUid)?.username;
    if (owner !== undefined) repositories.setArchived(`${owner}/${workspaceId}`, change.state === "archived");
    return { workspace: workspaces.update(workspaceId, change, now) };
  },
});
