// Reads what one commit changed.

import { z } from "zod";
import { DiffStats, RepoDiffFile, RepoSlug, Truncated } from "../../../protocol/repo-records.ts";
import { redactDiff } from "../../repos/visible-diff.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "repo.diff",
  doc: "Show what one commit changed against its first parent, file by file with hunks. context lines are 3 by default, and clamped to 0..20. After a few megabytes, files come without hunks and truncated is true. For agents, files whose path names a secret come without hunks.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isExpensive: true,
  args: z.object({ repo: RepoSlug, commit: z.string().min(1).max(256), context: z.number().optional() }),
  result: z.object({
    repo: z.string(),
    commitHash: z.string(),
    parentHash: z.string().nullable(),
    stats: DiffStats,
    files: z.array(RepoDiffFile),
    truncated: Truncated,
  }),
  fails: { 400: "not a commit", 404: "no such repository or commit, or another user's private repository" },
  example: {
    args: { repo: "alice/notes", commit: "main" },
    result: {
      repo: "alice/notes",
      commitHash: "2c1d8ab0f7e1c5d9c4a1c7f1e2f9d6b3a8e7f001",
      parentHash: null,
      stats: { filesChanged: 0, additions: 0, deletions: 0 },
      files: [],
    },
  },
  async run({ repositories, repos }, caller, { repo, commit, context }) {
    const row = repositories.requireReadable(caller, repo);
    const { files, ...changed } = await repos.ask(row, "diff", { commit, context });
    return { repo: row.repo, ...changed, files: redactDiff(caller, files) };
  },
});
