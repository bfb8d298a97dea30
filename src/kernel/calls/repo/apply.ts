// Commits changes.

import { z } from "zod";
import { personOf } from "../../repos/repos.ts";
import { Ref, RepoSlug } from "../../../protocol/repo-records.ts";
import { syscall } from "../define.ts";

const Path = z.string().max(4096);
const Op = z.discriminatedUnion("type", [
  z.object({ type: z.literal("put"), path: Path, content: z.string().optional(), contentBase64: z.string().optional() }),
  z.object({ type: z.literal("delete"), path: Path, recursive: z.boolean().optional() }),
  z.object({ type: z.literal("move"), from: Path, to: Path }),
]);

export default syscall({
  name: "repo.apply",
  doc: "Commit put, delete and move operations to one branch, all or none, as the caller. With expectedHead, the branch must be at that commit. Operations that change nothing make no commit unless allowEmpty is true. If the caller's own repository does not exist, it is created.",
  runs: "kernel",
  does: "effect",
  isDurableBeforeAnswer: true,
  from: ["user"],
  grant: ["users"],
  atOnce: 4,
  args: z.object({
    repo: RepoSlug,
    ref: Ref.optional(),
    message: z.string().min(1),
    expectedHead: z.string().max(64).optional(),
    allowEmpty: z.boolean().optional(),
    ops: z.array(Op),
  }),
  result: z.object({ ok: z.literal(true), repo: z.string(), ref: z.string(), head: z.string().nullable() }),
  fails: {
    400: "no message, an invalid branch or path, or both content and contentBase64",
    403: "the caller may read the repository but not write it",
    404: "another user's, whether it exists or not; a path does not exist",
    409: "the branch is not at expectedHead, or a path conflicts with another",
    413: "too many operations, or too large ones",
    507: "the owner's quota is used up",
  },
  example: {
    args: { repo: "alice/notes", message: "greet", ops: [{ type: "put", path: "README.md", content: "hello\n" }] },
    result: { ok: true, repo: "alice/notes", ref: "main", head: "2c1d8ab0f7e1c5d9c4a1c7f1e2f9d6b3a8e7f001" },
  },
  async run({ repositories, repos, commit, key, now }, caller, { repo, ...request }) {
    const row = repositories.findWritable(caller, repo) ?? (await commit((nouns) => nouns.repositories.findOrMake(repo, {}, nouns.now)));
    const { ref, head } = await repos.change(row, "apply", { ...request, author: personOf(caller.username), key, now });
    return { ok: true as const, repo: row.repo, ref, head };
  },
});
