// Processes and the workspaces they work in: who works where.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
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

async function processOf(client: Client, pid: string) {
  return (await client.call("proc.list", {})).processes.find((one) => one.pid === pid)!;
}

/** What changes next is newer by the gateway's clock. */
async function later(client: Client): Promise<void> {
  const { now } = await client.call("sys.info", {});
  await expect.poll(async () => (await client.call("sys.info", {})).now, { interval: 1 }).toBeGreaterThan(now);
}
