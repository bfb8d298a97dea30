// Processes and the workspaces they work in: who works where, and what counts as use.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { says } from "../../support/models/scripted.ts";
import { stages } from "../stage.ts";

const NEW = { workspace: { mode: "new" } } as const;

stages("sys.workspace.list:processes", async ({ ann, uid, root, spawn }) => {
  const { pid: first } = await spawn({ ...NEW, label: "first" });
  const { workspaceId, cwd, createdAt } = await processOf(ann, first);
  const listed = async (who: Client) => {
    const { workspaces } = await who.call("sys.workspace.list", { uid });
    return workspaces.find((one) => one.workspaceId === workspaceId);
  };
  expect(await listed(ann)).toMatchObject({ activeProcess: { pid: first, label: "first", cwd, createdAt }, processCount: 1 });
  await later(ann);
  const { pid: second } = await spawn({ workspace: { mode: "attach", workspaceId: workspaceId! } });
  // One without a workspace, and one elsewhere, count for nothing here.
  await spawn();
  await spawn(NEW);
  expect(await listed(ann)).toMatchObject({ activeProcess: { pid: second, label: null }, processCount: 2 });
  // A process that was ended stays in the list of processes and can be spoken to again.
  await ann.call("proc.kill", { pid: second });
  expect(await listed(ann)).toMatchObject({ activeProcess: { pid: second }, processCount: 2 });
  // Root may work there too, which is nobody else's to know.
  await later(ann);
  const { pid: foreign } = await root.call("proc.spawn", { profile: "task", workspace: { mode: "attach", workspaceId: workspaceId! } });
  expect(await listed(ann)).toMatchObject({ activeProcess: { pid: second }, processCount: 2 });
  expect(await listed(root)).toMatchObject({ activeProcess: { pid: foreign }, processCount: 3 });
  const empty = await ann.call("sys.workspace.create", {});
  const { workspaces } = await ann.call("sys.workspace.list", { limit: 1.9 });
  expect(workspaces).toMatchObject([{ workspaceId: empty.workspace.workspaceId, activeProcess: null, processCount: 0 }]);
});

stages("proc.send:workspace", async ({ ann, spawn, model }) => {
  const [older, newer] = [await spawn(NEW), await spawn(NEW)];
  const [first, second] = [await workspaceOf(ann, older.pid), await workspaceOf(ann, newer.pid)];
  const lastUsed = async () => (await ann.call("sys.workspace.list", { limit: 1 })).workspaces[0]!;
  await later(ann);
  await ann.call("sys.workspace.update", { workspaceId: second.id, label: "newer" });
  const before = await lastUsed();
  expect(before.workspaceId).toBe(second.id);
  await later(ann);
  const release = model.holds("Anybody here?", says("Yes."));
  const runId = await older.say("Anybody here?");
  // Before anybody has answered.
  const after = await lastUsed();
  expect(after.workspaceId).toBe(first.id);
  expect(after.updatedAt).toBeGreaterThan(before.updatedAt);
  release();
  await older.finished(runId);
});

async function processOf(client: Client, pid: string) {
  return (await client.call("proc.list", {})).processes.find((one) => one.pid === pid)!;
}

/** The workspace of a process, as its repository has it. */
async function workspaceOf(client: Client, pid: string) {
  const { workspaceId, username } = await processOf(client, pid);
  const repo = `${username}/${workspaceId}`;
  const read = async (path: string) => {
    const found = await client.call("repo.read", { repo, path });
    return found.kind === "file" ? found.content : null;
  };
  return {
    id: workspaceId!,
    /** Newest first. */
    commits: async () => (await client.call("repo.log", { repo })).entries.map(({ message }) => message.trim()),
    chat: async () =>
      (await read(`.gsv/processes/${pid}/chat.jsonl`))!
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    summary: () => read(".gsv/summary.md"),
  };
}

/** What changes next is newer by the gateway's clock. */
async function later(client: Client): Promise<void> {
  const { now } = await client.call("sys.info", {});
  await expect.poll(async () => (await client.call("sys.info", {})).now, { interval: 1 }).toBeGreaterThan(now);
}
