// Reads a directory or a file at a commit.

import { z } from "zod";
import { Ref, RepoSlug } from "../../../protocol/repo-records.ts";
import { syscall } from "../define.ts";

const location = { repo: z.string(), ref: z.string(), path: z.string() };
const Entry = z.object({
  name: z.string(),
  path: z.string(),
  mode: z.string(),
  hash: z.string(),
  type: z.enum(["tree", "blob", "symlink"]),
});

export default syscall({
  name: "repo.read",
  doc: "Read a directory's entries or a file's text at a branch, tag or commit; by default main and the root. A binary file has content null. Links are not followed.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  atOnce: 4,
  args: z.object({ repo: RepoSlug, ref: Ref.optional(), path: z.string().max(4096).optional() }),
  result: z.discriminatedUnion("kind", [
    z.object({ ...location, kind: z.literal("tree"), entries: z.array(Entry) }),
    z.object({ ...location, kind: z.literal("file"), size: z.int(), isBinary: z.boolean(), content: z.string().nullable() }),
  ]),
  fails: {
    400: "not a ref or path",
    404: "no such repository, ref or path, or another user's private repository",
    413: "too large for an answer",
  },
  example: {
    args: { repo: "alice/notes", path: "README.md" },
    result: { repo: "alice/notes", ref: "main", path: "README.md", kind: "file", size: 6, isBinary: false, content: "hello\n" },
  },
  async run({ repositories, repos }, caller, { repo, ref, path }) {
    const row = repositories.requireReadable(caller, repo);
    return { repo: row.repo, ...(await repos.ask(row, "read", { ref, path })) };
  },
});
