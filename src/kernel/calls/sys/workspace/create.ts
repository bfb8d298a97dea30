// Creates a workspace.

import { z } from "zod";
import { WorkspaceKind, WorkspaceRecord } from "../../../../protocol/repo-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.workspace.create",
  doc: "Create a workspace for the caller: a directory that outlives a process, kept in the repository <username>/<workspaceId>.",
  runs: "kernel",
  does: "write",
  changes: "workspaces",
  from: ["user"],
  grant: ["users"],
  args: z.object({ label: z.string().trim().min(1).max(200).optional(), kind: WorkspaceKind.optional() }),
  result: z.object({ workspace: WorkspaceRecord, repo: z.string() }),
  fails: { 429: "the caller has too many repositories and workspaces" },
  example: {
    args: { label: "taxes" },
    result: {
      workspace: {
        workspaceId: "ws_0b54bd1c-5f57-4a5e-8a8c-0d8e4b1f2a33",
        ownerUid: 1000,
        label: "taxes",
        kind: "thread",
        state: "active",
        createdAt: 1763200000000,
        updatedAt: 1763200000000,
      },
      repo: "alice/ws_0b54bd1c-5f57-4a5e-8a8c-0d8e4b1f2a33",
    },
  },
  run({ workspaces, repositories, now }, caller, { label, kind }) {
    const workspace = workspaces.make(caller.uid, label ?? null, kind ?? "thread", now);
    // The initial files are made on first use (kernel/repos/repos.ts), because a transaction cannot call an actor.
    return { workspace, repo: repositories.makeWorkspace(caller.username, workspace.workspaceId, now).repo };
  },
});
