// Lists repositories.

import { z } from "zod";
import { RepoSummary } from "../../../protocol/repo-records.ts";
import { repoSummaryOf } from "../../repos/summary.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "repo.list",
  doc: "List the repositories the caller can read, by name: their own, including home and workspaces, and public ones. Root sees all. owner limits the list to one user's.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ owner: z.string().max(256).optional() }),
  result: z.object({ repos: z.array(RepoSummary) }),
  fails: {},
  example: {
    args: { owner: "alice" },
    result: {
      repos: [{ repo: "alice/home", owner: "alice", name: "home", kind: "home", writable: true, public: false, updatedAt: 1763200000000 }],
    },
  },
  run({ repositories }, caller, { owner }) {
    return { repos: repositories.list(caller, owner).map((row) => repoSummaryOf(row, repositories.mayWrite(caller, row))) };
  },
});
