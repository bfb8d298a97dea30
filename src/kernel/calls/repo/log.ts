// Reads the log of a branch.

import { z } from "zod";
import { Ref, RepoSlug } from "../../../protocol/repo-records.ts";
import { syscall } from "../define.ts";

const Entry = z.object({
  hash: z.string(),
  treeHash: z.string(),
  author: z.string(),
  authorEmail: z.string(),
  authorTime: z.number(),
  committer: z.string(),
  committerEmail: z.string(),
  commitTime: z.number(),
  message: z.string(),
  parents: z.array(z.string()),
});

export default syscall({
  name: "repo.log",
  doc: "List the commits of a branch along first parents, newest first. limit is 30 by default, and clamped to 1..100; offset skips that many. Times are seconds, as in git.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  atOnce: 4,
  args: z.object({ repo: RepoSlug, ref: Ref.optional(), limit: z.number().optional(), offset: z.number().optional() }),
  result: z.object({ repo: z.string(), ref: z.string(), limit: z.int(), offset: z.int(), entries: z.array(Entry) }),
  fails: { 400: "not a ref", 404: "no such repository or ref, or another user's private repository" },
  example: {
    args: { repo: "alice/notes", limit: 1 },
    result: {
      repo: "alice/notes",
      ref: "main",
      limit: 1,
      offset: 0,
      entries: [
        {
          hash: "2c1d8ab0f7e1c5d9c4a1c7f1e2f9d6b3a8e7f001",
          treeHash: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
          author: "alice",
          authorEmail: "alice@gsv.local",
          authorTime: 1763200000,
          committer: "alice",
          committerEmail: "alice@gsv.local",
          commitTime: 1763200000,
          message: "repo: create alice/notes",
          parents: [],
        },
      ],
    },
  },
  async run({ repositories, repos }, caller, { repo, ref, limit, offset }) {
    const row = repositories.requireReadable(caller, repo);
    return { repo: row.repo, ...(await repos.ask(row, "log", { ref, limit, offset })) };
  },
});
