// Changes the description and visibility of a repository.

import { z } from "zod";
import { fail } from "../../../lib/sys-error.ts";
import { repoSummaryOf } from "../../repos/summary.ts";
import { RepoSlug, RepoSummary } from "../../../protocol/repo-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "repo.update",
  doc: "Set a repository's description, or whether everybody may read it (over git even without logging in). Homes and workspaces stay private. Only the owner and root may.",
  runs: "kernel",
  does: "write",
  from: ["user"],
  grant: ["users"],
  args: z.object({ repo: RepoSlug, description: z.string().max(500).optional(), public: z.boolean().optional() }),
  result: z.object({ repo: RepoSummary }),
  fails: {
    403: "the caller may read the repository but not write it",
    404: "no such repository, or another user's private one",
    409: "a home or workspace cannot be made public",
  },
  example: {
    args: { repo: "alice/notes", public: true },
    result: {
      repo: { repo: "alice/notes", owner: "alice", name: "notes", kind: "user", writable: true, public: true, updatedAt: 1763200000000 },
    },
  },
  run({ repositories, now }, caller, { repo, ...change }) {
    const row = repositories.findManageable(caller, repo) ?? fail(404, `Repository not found: ${repo}`);
    const updated = repositories.update(row.repo, change);
    repositories.touch(row.repo, now);
    return { repo: repoSummaryOf({ ...updated, updatedAt: now }, true) };
  },
});
