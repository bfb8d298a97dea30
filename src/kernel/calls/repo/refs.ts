// Lists branches and tags.

import { z } from "zod";
import { RepoSlug } from "../../../protocol/repo-records.ts";
import { syscall } from "../define.ts";

const Names = z.record(z.string(), z.string());

export default syscall({
  name: "repo.refs",
  doc: "List the branches and tags of a repository, each with the hash it points to.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  args: z.object({ repo: RepoSlug }),
  result: z.object({ repo: z.string(), heads: Names, tags: Names }),
  fails: { 404: "no such repository, or another user's private one" },
  example: {
    args: { repo: "alice/notes" },
    result: { repo: "alice/notes", heads: { main: "2c1d8ab0f7e1c5d9c4a1c7f1e2f9d6b3a8e7f001" }, tags: {} },
  },
  async run({ repositories, repos }, caller, args) {
    const row = repositories.requireReadable(caller, args.repo);
    return { repo: row.repo, ...(await repos.ask(row, "refs", {})) };
  },
});
