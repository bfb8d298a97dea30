// gsv repo: lists and creates repositories, and shows their history and what a commit changed. A name without an owner is the
// user's own.

import type { Calls, Client } from "../../client/client.ts";
import { formatRelativeTime } from "../terminal/durations.ts";
import { type Globals, resolveGateway, withClient } from "../session/session.ts";
import { printNote, printText, printDiffLine, printJson, printTable } from "../terminal/terminal.ts";

type CreateFlags = Globals & { description?: string; public?: boolean };
type LogFlags = Globals & { ref?: string; limit?: string };
type DiffFile = Calls["repo.diff"]["result"]["files"][number];

const SHORT_HASH = 10;

export async function repoList(flags: Globals & { owner?: string }): Promise<void> {
  const { repos } = await withClient(flags, (client) => client.call("repo.list", flags.owner === undefined ? {} : { owner: flags.owner }));
  if (flags.json) return printJson({ repos });
  printTable(
    ["REPO", "KIND", "ACCESS", "CHANGED", "DESCRIPTION"],
    repos.map((repo) => [
      repo.repo,
      repo.kind,
      `${repo.public ? "public" : "private"}${repo.writable ? "" : ", read only"}`,
      formatRelativeTime(repo.updatedAt ?? null, "-"),
      repo.description ?? "-",
    ]),
  );
}

export async function repoCreate(flags: CreateFlags, [name = ""]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const { description } = flags;
    const made = await client.call("repo.create", {
      repo: addOwner(client, name),
      ...(description === undefined ? {} : { description }),
      ...(flags.public ? { public: true } : {}),
    });
    if (flags.json) return printJson(made);
    printNote(
      made.created ? `Created ${made.repo}. To clone it, use a token (gsv token create) as the password:` : `${made.repo} already exists.`,
    );
    printText(`git clone ${resolveGateway(flags).address.healthUrl.replace(/\/healthz$/, "")}/git/${made.repo}`);
  });
}

export async function repoLog(flags: LogFlags, [name = ""]: readonly string[]): Promise<void> {
  const { entries } = await withClient(flags, (client) =>
    client.call("repo.log", {
      repo: addOwner(client, name),
      ...(flags.ref === undefined ? {} : { ref: flags.ref }),
      ...(flags.limit === undefined ? {} : { limit: Number(flags.limit) }),
    }),
  );
  if (flags.json) return printJson({ entries });
  printTable(
    ["COMMIT", "AUTHOR", "WHEN", "MESSAGE"],
    entries.map(({ hash, author, authorTime, message }) => [
      hash.slice(0, SHORT_HASH),
      author,
      formatRelativeTime(authorTime * 1000, "-"),
      message.split("\n", 1)[0]!,
    ]),
  );
}

export async function repoDiff(flags: Globals, [name = "", commit = ""]: readonly string[]): Promise<void> {
  const diff = await withClient(flags, (client) => client.call("repo.diff", { repo: addOwner(client, name), commit }));
  if (flags.json) return printJson(diff);
  for (const file of diff.files) printFileDiff(file);
  if (diff.truncated) printNote("The diff is too long to be shown in full.");
}

/** In git's format. */
function printFileDiff({ path, status, hunks }: DiffFile): void {
  printDiffLine("head", `diff --git a/${path} b/${path}`);
  if (hunks?.[0]?.lines[0]?.tag === "binary") return printDiffLine("context", hunks[0].lines[0].content);
  if (hunks === undefined || hunks.length === 0) return;
  printDiffLine("head", `--- ${status === "added" ? "/dev/null" : `a/${path}`}`);
  printDiffLine("head", `+++ ${status === "deleted" ? "/dev/null" : `b/${path}`}`);
  for (const { oldStart, oldCount, newStart, newCount, lines } of hunks) {
    printDiffLine("hunk", `@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`);
    for (const { tag, content } of lines) {
      if (tag === "add") printDiffLine("add", `+${content}`);
      else if (tag === "delete") printDiffLine("delete", `-${content}`);
      else printDiffLine("context", ` ${content}`);
    }
  }
}

function addOwner(client: Client, name: string): string {
  return name.includes("/") ? name : `${client.session.identity.process.username}/${name}`;
}
