// Lists workspaces.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { Uid } from "../../../../protocol/records.ts";
import { WorkspaceKind, WorkspaceRecord, WorkspaceState } from "../../../../protocol/repo-records.ts";
import { syscall } from "../../define.ts";

const ActiveProcess = z.object({ pid: z.string(), label: z.string().nullable(), cwd: z.string(), createdAt: z.number() });

export default syscall({
  name: "sys.workspace.list",
  doc: "List the caller's workspaces, the last used first; root may name another user's uid. kind and state filter, limit is applied last. activeProcess is the newest process that works there, idle or not, and processCount how many do, counting only those the caller may see.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    uid: Uid.optional(),
    kind: WorkspaceKind.optional(),
    state: WorkspaceState.optional(),
    limit: z.number().optional(),
  }),
  result: z.object({
    workspaces: z.array(
      WorkspaceRecord.extend({
        defaultBranch: z.string(),
        headCommit: z.string().nullable(),
        activeProcess: ActiveProcess.nullable(),
        processCount: z.int(),
      }),
    ),
  }),
  fails: { 403: "another user's, and the caller is not root" },
  example: {
    args: { state: "active" },
    result: {
      workspaces: [
        {
          workspaceId: "ws_0b54bd1c-5f57-4a5e-8a8c-0d8e4b1f2a33",
          ownerUid: 1000,
          label: "taxes",
          kind: "thread",
          state: "active",
          createdAt: 1763200000000,
          updatedAt: 1763200000000,
          defaultBranch: "main",
          headCommit: "2c1d8ab0f7e1c5d9c4a1c7f1e2f9d6b3a8e7f001",
          activeProcess: {
            pid: "7d0f1c52-8a57-4a0b-9a3e-2f6f0c1b8e11",
            label: "tax return",
            cwd: "/workspaces/ws_0b54bd1c-5f57-4a5e-8a8c-0d8e4b1f2a33",
            createdAt: 1763200000000,
          },
          processCount: 1,
        },
      ],
    },
  },
  async run({ accounts, workspaces, repositories, processes, repos }, caller, args) {
    const uid = args.uid ?? caller.uid;
    if (uid !== caller.uid && !isRoot(caller)) fail(403, `Permission denied: cannot list workspaces for uid ${uid}`);
    const owner = accounts.findByUid(uid)?.username ?? "";
    const limit = Math.floor(args.limit ?? 0);
    const found = workspaces
      .list(uid)
      .filter(({ kind, state }) => (args.kind ?? kind) === kind && (args.state ?? state) === state)
      .slice(0, limit > 0 ? limit : undefined);
    const rows = found.flatMap(({ workspaceId }) => repositories.get(`${owner}/${workspaceId}`) ?? []);
    const branches = new Map((await repos.refresh(rows)).map((row) => [row.name, row]));
    const byWorkspace = processes.groupByWorkspace(caller);
    return {
      workspaces: found.map((workspace) => ({
        ...workspace,
        defaultBranch: branches.get(workspace.workspaceId)?.defaultBranch ?? "main",
        headCommit: branches.get(workspace.workspaceId)?.head ?? null,
        activeProcess: byWorkspace.get(workspace.workspaceId)?.newest ?? null,
        processCount: byWorkspace.get(workspace.workspaceId)?.count ?? 0,
      })),
    };
  },
});
