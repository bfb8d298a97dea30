// Searches the files of a commit.

import { z } from "zod";
import { Ref, RepoSlug, Truncated } from "../../../protocol/repo-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "repo.search",
  doc: "Find lines that contain a text, literally and case-sensitively, in the text files of a branch, tag or commit. prefix limits the search to paths that begin with it. Files whose path names a secret are skipped unless prefix names one. Returns at most 500 lines.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  isExpensive: true,
  args: z.object({ repo: RepoSlug, ref: Ref.optional(), query: z.string().min(1).max(4096), prefix: z.string().max(4096).optional() }),
  result: z.object({
    repo: z.string(),
    ref: z.string(),
    query: z.string(),
    prefix: z.string().optional(),
    truncated: Truncated,
    matches: z.array(z.object({ path: z.string(), line: z.int(), content: z.string() })),
  }),
  fails: { 400: "no query, or not a ref or path", 404: "no such repository or ref, or another user's private repository" },
  example: {
    args: { repo: "alice/notes", query: "hello" },
    result: { repo: "alice/notes", ref: "main", query: "hello", matches: [{ path: "README.md", line: 1, content: "hello" }] },
  },
  async run({ repositories, repos }, caller, { repo, ref, query, prefix }) {
    const row = repositories.requireReadable(caller, repo);
    return { repo: row.repo, ...(await repos.ask(row, "search", { ref, query, prefix })) };
  },
});
