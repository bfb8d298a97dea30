// Compares two commits.

import { z } from "zod";
import { DiffStats, RepoDiffFile, RepoSlug, Truncated } from "../../../protocol/repo-records.ts";
import { redactDiff } from "../../repos/visible-diff.ts";
import { syscall } from "../define.ts";

const Side = z.string({ error: "base and head are required" }).min(1, { error: "base and head are required" }).max(256);

export default syscall({
  name: "repo.compare",
  doc: "Show the changes from base to head, each a branch, tag or hash. context lines are 3 by default, and clamped to 0..20; stat leaves the hunks out. For agents, files whose path names a secret come without hunks.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isExpensive: true,
  args: z.object({ repo: RepoSlug, base: Side, head: Side, context: z.number().optional(), stat: z.boolean().optional() }),
  result: z.object({
    repo: z.string(),
    base: z.string(),
    head: z.string(),
    stats: DiffStats,
    files: z.array(RepoDiffFile),
    truncated: Truncated,
  }),
  fails: { 400: "not a ref", 404: "no such repository or ref, or another user's private repository" },
  example: {
    args: { repo: "alice/notes", base: "main", head: "draft", stat: true },
    result: {
      repo: "alice/notes",
      base: "main",
      head: "draft",
      stats: { filesChanged: 1, additions: 2, deletions: 0 },
      files: [{ path: "README.md", status: "modified", oldHash: "ce013625030ba8dba906f756967f9e9ca394464a", newHash: "1".repeat(40) }],
    },
  },
  async run({ repositories, repos }, caller, { repo, ...range }) {
    const row = repositories.requireReadable(caller, repo);
    const { baseHash: _base, headHash: _head, files, ...compared } = await repos.ask(row, "compare", range);
    return { repo: row.repo, ...compared, files: redactDiff(caller, files) };
  },
});
