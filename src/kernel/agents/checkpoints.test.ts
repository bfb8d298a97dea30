// Checkpoints of processes that are reset or killed, over real rows and real repositories in memory.

import { beforeEach, describe, expect, it } from "vitest";
import { fakeStore } from "../../../test/support/fake-store.ts";
import { memoryCrypto, MemorySql, Random } from "../../../test/support/memory-ports.ts";
import { MemoryGit } from "../../../test/support/memory/git-files.ts";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { SysError } from "../../lib/sys-error.ts";
import type { SummaryMaterial } from "../../process/conversation/checkpoint.ts";
import { Accounts } from "../nouns/accounts.ts";
import { Groups } from "../nouns/groups.ts";
import { Processes, type ProcessRow } from "../nouns/processes.ts";
import { Workspaces } from "../nouns/workspaces.ts";
import { migrate } from "../schema/migrate.ts";
import { Checkpoints } from "./checkpoints.ts";

const NOW = 1_763_200_000_000;
const bytes = (text: string) => new TextEncoder().encode(text);

/** A request for a summary, with the functions that answer it. */
type SummaryRequest = SummaryMaterial & { pid: string; answer: { resolve: (text: string | null) => void; fail: (error: Error) => void } };

let sql: MemorySql;
let git: MemoryGit;
let accounts: Accounts;
let workspaces: Workspaces;
let processes: Processes;
let checkpoints: Checkpoints;
let requests: SummaryRequest[];
let logged: string[];
let workspaceId: string;
let repo: string;
let process: ProcessRow;

beforeEach(() => {
  sql = new MemorySql();
  migrate(sql);
  git = new MemoryGit();
  accounts = new Accounts(sql, new Groups(sql));
  workspaces = new Workspaces(sql, memoryCrypto(new Random("checkpoints")));
  processes = new Processes(sql);
  requests = [];
  logged = [];
  const note = (message: string, fields?: object) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const store = fakeStore({ workspaces, accounts }, { ports: { log: { warn: note, error: note } } });
  checkpoints = new Checkpoints(
    store,
    git,
    ({ pid }, material) =>
      new Promise((resolve, fail) => {
        requests.push({ pid, ...material, answer: { resolve, fail } });
      }),
  );
  for (const username of ["ann", "bob"]) accounts.add({ username, hash: "$x" }, NOW);
  workspaceId = workspaces.make(1000, null, "thread", NOW).workspaceId;
  repo = `ann/${workspaceId}`;
  process = make("one");
});

function make(pid: string, more: Partial<ProcessRow> = {}): ProcessRow {
  const who = { uid: 1000, username: "ann", home: "/home/ann", cwd: "/home/ann", workspaceId };
  return processes.make({ pid, profile: "task", parentPid: null, label: null, contextFiles: [], ...who, ...more }, NOW);
}

const keep = (words: string, of = process) =>
  checkpoints.store(of, { reason: "process.kill", chat: bytes(words), transcript: `transcript of ${words}` });
const summary = async () => {
  const found = await git.read(repo, ".gsv/summary.md");
  return found === null ? null : new TextDecoder().decode(found.bytes);
};
const write = (text: string) => git.commitChanges(repo, "by hand", "ann", [{ type: "put", path: ".gsv/summary.md", content: bytes(text) }]);

/** Answers the last request. Nothing here waits for I/O, so everything that follows from the answer is done when this resolves. */
async function answer(text: string | null): Promise<void> {
  await yieldToEventLoop();
  requests.at(-1)!.answer.resolve(text);
  await yieldToEventLoop();
}

describe("a checkpoint", () => {
  it("is one commit by the process's user, and does not wait for the model", async () => {
    expect(checkpoints.isWanted(process)).toBe(true);
    await keep("a\n");
    expect(git.messages(repo)).toEqual(["ann: gsv: checkpoint process kill"]);
    expect((await git.read(repo, ".gsv/processes/one/chat.jsonl"))?.bytes).toEqual(bytes("a\n"));
    await yieldToEventLoop();
    expect(requests).toMatchObject([{ pid: "one", transcript: "transcript of a\n", summary: "" }]);
  });

  it("is made once for the same messages, and again for others", async () => {
    await keep("a\n");
    await keep("a\n");
    await answer("- A.");
    expect(requests).toHaveLength(1);
    await keep("b\n");
    await yieldToEventLoop();
    expect(requests).toHaveLength(2);
    expect(git.messages(repo)).toEqual([
      "ann: gsv: checkpoint process kill",
      "ann: gsv: renew summary",
      "ann: gsv: checkpoint process kill",
    ]);
  });

  it("is not made without a workspace, or in one that belongs to another user, is archived or was deleted", async () => {
    const none = [make("none", { workspaceId: null }), make("gone", { workspaceId: "ws_gone" }), make("bob's", { uid: 1001 })];
    for (const one of none) {
      expect(checkpoints.isWanted(one)).toBe(false);
      await keep("a\n", one);
    }
    workspaces.update(workspaceId, { label: null, state: "archived" }, NOW);
    expect(checkpoints.isWanted(process)).toBe(false);
    await keep("a\n");
    await yieldToEventLoop();
    expect([git.calls, requests, logged]).toEqual([0, [], []]);
  });

  it("does not prevent the end of a process if it fails, and logs the failure", async () => {
    await git.commitChanges(repo, "in the way", "ann", [{ type: "put", path: ".gsv/processes", content: bytes("x") }]);
    await keep("a\n");
    expect(logged).toEqual([expect.stringMatching(/^a checkpoint could not be committed to the workspace .*Not a directory/)]);
    await yieldToEventLoop();
    expect(requests).toEqual([]);
  });
});

describe("a summary", () => {
  beforeEach(() => write("- Roses.\n"));

  it("is made from the previous one, one at a time per workspace, and in parallel for another workspace", async () => {
    await keep("a\n");
    await keep("b\n");
    await keep("c\n", make("elsewhere", { workspaceId: workspaces.make(1000, null, "thread", NOW).workspaceId }));
    await yieldToEventLoop();
    expect(requests).toMatchObject([
      { pid: "one", transcript: "transcript of a\n", summary: "- Roses.\n" },
      { pid: "elsewhere", summary: "" },
    ]);
    requests[0]!.answer.resolve("- Roses, a.");
    await yieldToEventLoop();
    expect(requests[2]).toMatchObject({ pid: "one", transcript: "transcript of b\n", summary: "- Roses, a.\n" });
    await answer("- Roses, a, b.");
    expect(await summary()).toBe("- Roses, a, b.\n");
    expect(git.messages(repo)[0]).toBe("ann: gsv: renew summary");
  });

  it("stays if there is no new one or the process cannot be reached, and the next one is still made", async () => {
    await keep("a\n");
    await answer(null);
    await keep("b\n");
    await yieldToEventLoop();
    requests.at(-1)!.answer.fail(new SysError(503, "The process cannot be reached now"));
    await yieldToEventLoop();
    expect(await summary()).toBe("- Roses.\n");
    expect(logged).toEqual([expect.stringMatching(/^the summary of a workspace could not be renewed .*cannot be reached/)]);
    await keep("c\n");
    await answer("- Lilies.");
    expect(await summary()).toBe("- Lilies.\n");
  });

  it("is made again if somebody has deleted it", async () => {
    await git.commitChanges(repo, "rm", "ann", [{ type: "delete", path: ".gsv/summary.md" }]);
    await keep("a\n");
    await answer("- Lilies.");
    expect([requests[0]!.summary, await summary()]).toEqual(["", "- Lilies.\n"]);
  });

  it("stays as somebody has written it in the meantime", async () => {
    await keep("a\n");
    await yieldToEventLoop();
    await write("- My own words.\n");
    await answer("- Roses, a.");
    expect(await summary()).toBe("- My own words.\n");
  });

  it("stays if it is too long to have been written by a model", async () => {
    await write("x".repeat(16 * 1024 + 1));
    await keep("a\n");
    await yieldToEventLoop();
    expect(requests).toEqual([]);
  });

  it.each([
    ["was archived", () => workspaces.update(workspaceId, { label: null, state: "archived" }, NOW)],
    ["was deleted", () => sql.run("DELETE FROM workspaces WHERE workspace_id = ?", workspaceId)],
    ["belongs to a locked user", () => accounts.setLocked("ann", true)],
  ])("is neither requested for a workspace that %s, nor written to it", async (_, change) => {
    await keep("a\n");
    await keep("b\n");
    await yieldToEventLoop();
    change();
    await answer("- too late");
    expect(requests).toHaveLength(1);
    expect(await summary()).toBe("- Roses.\n");
    expect(logged).toEqual([]);
  });
});
