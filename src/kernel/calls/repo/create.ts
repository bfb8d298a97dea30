// Creates a repository, or a branch in one.

import { z } from "zod";
import { personOf } from "../../repos/repos.ts";
import { Ref, RepoSlug } from "../../../protocol/repo-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "repo.create",
  doc: "Create a repository with an empty first commit on ref, or create that branch in an existing repository. An existing branch stays as it is: created is false. description and public are for a new repository; repo.update changes them later. Only the owner, root and users with the capability * may; the latter cannot write homes and workspaces of others.",
  runs: "kernel",
  does: "effect",
  isDurableBeforeAnswer: true,
  from: ["user"],
  grant: ["users"],
  args: z.object({ repo: RepoSlug, ref: Ref.optional(), description: z.string().max(500).optional(), public: z.boolean().optional() }),
  result: z.object({ repo: z.string(), ref: z.string(), head: z.string().nullable(), created: z.boolean() }),
  fails: {
    400: "the name or the branch is not valid",
    403: "the caller may read the repository but not write it",
    404: "another user's, whether it exists or not; for root, an owner who does not exist",
    409: "the name conflicts with another branch",
    507: "the owner's quota is used up",
  },
  example: {
    args: { repo: "alice/notes", description: "what I read" },
    result: { repo: "alice/notes", ref: "main", head: "2c1d8ab0f7e1c5d9c4a1c7f1e2f9d6b3a8e7f001", created: true },
  },
  async run({ repositories, repos, commit, key, now }, caller, args) {
    const row =
      repositories.findWritable(caller, args.repo) ?? (await commit((nouns) => nouns.repositories.findOrMake(args.repo, args, nouns.now)));
    const result = await repos.change(row, "create", { slug: row.repo, author: personOf(caller.username), ref: args.ref, key, now });
    return { repo: row.repo, ref: result.ref, head: result.head, created: result.created };
  },
});
