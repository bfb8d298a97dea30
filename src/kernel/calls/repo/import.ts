// Imports a branch from a remote.

import { z } from "zod";
import { fail } from "../../../lib/sys-error.ts";
import { personOf } from "../../repos/repos.ts";
import { Ref, RepoSlug } from "../../../protocol/repo-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "repo.import",
  doc: "Set a branch to a ref of a git server, over http or https, whatever the branch was before. The address is stored: without remoteUrl the last one is used again. remoteRef is the branch's own name by default. With a message, an empty commit by the caller with that message is added on top; without one, the branch is exactly at the remote's ref. If the caller's own repository does not exist, it is created. The import ends when the caller's socket closes.",
  runs: "kernel",
  does: "effect",
  isDurableBeforeAnswer: true,
  from: ["user"],
  grant: ["users"],
  isExpensive: true,
  atOnce: 16,
  args: z.object({
    repo: RepoSlug,
    ref: Ref.optional(),
    remoteUrl: z.string().min(1).max(4096).optional(),
    remoteRef: Ref.optional(),
    message: z.string().optional(),
  }),
  result: z.object({
    repo: z.string(),
    ref: z.string(),
    head: z.string().nullable(),
    changed: z.boolean(),
    remoteUrl: z.string(),
    remoteRef: z.string(),
  }),
  fails: {
    400: "the address is missing, contains a password or is not a git server",
    403: "the address may not be reached, or the caller may read the repository but not write it",
    404: "another user's, whether it exists or not; the remote does not have the ref",
    413: "the remote sends too much, or the message is too long",
    429: "the owner has too many imports in progress",
    503: "the remote cannot be reached or fails",
    504: "the remote takes too long",
    507: "the owner's quota is used up",
  },
  example: {
    args: { repo: "alice/tools", remoteUrl: "https://git.example/tools.git" },
    result: {
      repo: "alice/tools",
      ref: "main",
      head: "2c1d8ab0f7e1c5d9c4a1c7f1e2f9d6b3a8e7f001",
      changed: true,
      remoteUrl: "https://git.example/tools.git",
      remoteRef: "main",
    },
  },
  async run({ repositories, repos, commit, key, signal, now }, caller, args) {
    // The result depends on the remote's state at that time, and cannot be stored in the same transaction as the change.
    if (key !== undefined) fail(400, "repo.import takes no key: it can be repeated without one");
    const existing = repositories.findWritable(caller, args.repo);
    const stored = args.remoteUrl === undefined ? existing?.upstream : undefined;
    const remoteUrl = args.remoteUrl ?? stored?.url ?? fail(400, "remoteUrl is required: this repository has no upstream yet");
    checkUrl(remoteUrl);
    const row = existing ?? (await commit((nouns) => nouns.repositories.findOrMake(args.repo, {}, nouns.now)));
    const { message = "" } = args;
    const note = message.trim() === "" ? undefined : { message, author: personOf(caller.username), now };
    const request = { ref: args.ref, remoteUrl, remoteRef: args.remoteRef ?? stored?.ref, note };
    const { ref, head, changed, remoteRef } = await repos.import(row, request, signal);
    await commit((nouns) => nouns.repositories.setUpstream(row.repo, remoteUrl, remoteRef));
    return { repo: row.repo, ref, head, changed, remoteUrl, remoteRef };
  },
});

/** Called before anything is created or stored. */
function checkUrl(remoteUrl: string): void {
  const url = URL.canParse(remoteUrl) ? new URL(remoteUrl) : fail(400, "remoteUrl is not a valid URL");
  if (!/^https?:$/.test(url.protocol)) fail(400, "remoteUrl must begin with http:// or https://");
  if (url.username !== "" || url.password !== "") fail(400, "remoteUrl must not contain a user name or password");
}
