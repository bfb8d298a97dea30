// Processes and their workspaces: who works where, what counts as use, and what a workspace keeps of a process that is reset.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { says, toldText } from "../../support/models/scripted.ts";
import { type Stage, stages } from "../stage.ts";

/** The prompt of a request for a workspace's summary. */
const SUMMARY = /^The summary so far:/;
const NEW = { workspace: { mode: "new" } } as const;

stages("sys.workspace.list:processes", async ({ ann, uid, root, spawn }) => {
  const { pid: first } = await spawn({ ...NEW, label: "first" });
  const { workspaceId, cwd, createdAt } = await processOf(ann, first);
  const listed = async (who: Client) => {
    const { workspaces } = await who.call("sys.workspace.list", { uid });
    return workspaces.find((one) => one.workspaceId === workspaceId);
  };
  expect(await listed(ann)).toMatchObject({ activeProcess: { pid: first, label: "first", cwd, createdAt }, processCount: 1 });
  await waitForClock(ann);
  const { pid: second } = await spawn({ workspace: { mode: "attach", workspaceId: workspaceId! } });
  // Processes without a workspace or in another one do not count.
  await spawn();
  await spawn(NEW);
  expect(await listed(ann)).toMatchObject({ activeProcess: { pid: second, label: null }, processCount: 2 });
  // A killed process stays in the list and accepts messages again.
  await ann.call("proc.kill", { pid: second });
  expect(await listed(ann)).toMatchObject({ activeProcess: { pid: second }, processCount: 2 });
  // Root may work there too, which others must not see.
  await waitForClock(ann);
  const { pid: foreign } = await root.call("proc.spawn", { profile: "task", workspace: { mode: "attach", workspaceId: workspaceId! } });
  expect(await listed(ann)).toMatchObject({ activeProcess: { pid: second }, processCount: 2 });
  expect(await listed(root)).toMatchObject({ activeProcess: { pid: foreign }, processCount: 3 });
  // The newest comes first.
  await waitForClock(ann);
  const empty = await ann.call("sys.workspace.create", {});
  const { workspaces } = await ann.call("sys.workspace.list", { limit: 1.9 });
  expect(workspaces).toMatchObject([{ workspaceId: empty.workspace.workspaceId, activeProcess: null, processCount: 0 }]);
});

stages("proc.send:workspace", async ({ ann, spawn, model }) => {
  const [older, newer] = [await spawn(NEW), await spawn(NEW)];
  const [first, second] = [await workspaceOf(ann, older.pid), await workspaceOf(ann, newer.pid)];
  const lastUsed = async () => (await ann.call("sys.workspace.list", { limit: 1 })).workspaces[0]!;
  await waitForClock(ann);
  await ann.call("sys.workspace.update", { workspaceId: second.id, label: "newer" });
  const before = await lastUsed();
  expect(before.workspaceId).toBe(second.id);
  await waitForClock(ann);
  const release = model.holds("Anybody here?", says("Yes."));
  const runId = await older.say("Anybody here?");
  // Before the model has answered.
  const after = await lastUsed();
  expect(after.workspaceId).toBe(first.id);
  expect(after.updatedAt).toBeGreaterThan(before.updatedAt);
  release();
  await older.finished(runId);
});

stages("proc.reset:checkpoint", async ({ ann, spawn, model }) => {
  const agent = await spawn(NEW);
  const { pid } = agent;
  const workspace = await workspaceOf(ann, pid);
  const modelCalls = async () => {
    const { days } = await ann.call("proc.spending", {});
    return days.reduce((sum, { spent }) => sum + spent.modelCalls, 0);
  };
  const before = await modelCalls();
  model.on("Plant tulips.", says("They are planted.")).on("Water them.", says("Done."));
  await agent.ask("Plant tulips.");
  await agent.ask("Water them.", { conversationId: "other" });
  const release = model.holds(SUMMARY, says("- There are tulips."));
  // The answer does not wait for the model.
  expect(await ann.call("proc.reset", { pid })).toMatchObject({ archivedMessages: 4 });
  expect(await workspace.commits()).toEqual(["gsv: checkpoint process reset", "gsv: scaffold workspace"]);
  expect(await workspace.chat()).toEqual([
    { role: "user", content: "Plant tulips.", ts: expect.any(Number) },
    { role: "assistant", content: "They are planted.", ts: expect.any(Number) },
  ]);
  expect(await workspace.summary()).toBe("");
  expect((await agent.history()).messages).toEqual([]);
  // The model receives the messages that are deleted by now.
  await expect.poll(() => summaryPrompts(model)).toHaveLength(1);
  expect(summaryPrompts(model)[0]).toContain("They are planted.");
  release();
  await expect.poll(() => workspace.summary()).toBe("- There are tulips.\n");
  expect(await workspace.commits()).toEqual(["gsv: renew summary", "gsv: checkpoint process reset", "gsv: scaffold workspace"]);
  // It counts as a model call like any other.
  expect((await ann.call("proc.usage", { pid })).spent).toMatchObject({ modelCalls: 3 });
  await expect.poll(modelCalls).toBe(before + 3);
  // The next process there gets the summary and continues it.
  const next = await spawn({ workspace: { mode: "attach", workspaceId: workspace.id } });
  model.on("What is there?", says("Tulips.")).on(SUMMARY, says("- There are watered tulips."));
  await next.ask("What is there?");
  expect(JSON.stringify(model.asked.at(-1)!.body)).toContain("- There are tulips.");
  await ann.call("proc.reset", { pid: next.pid });
  await expect.poll(() => workspace.summary()).toBe("- There are watered tulips.\n");
  expect(summaryPrompts(model)[1]).toContain("- There are tulips.");
});

stages("proc.reset:summary-stays", async ({ ann, spawn, model }) => {
  const agent = await spawn(NEW);
  const { pid } = agent;
  const workspace = await workspaceOf(ann, pid);
  await ann.call("fs.write", { path: `/workspaces/${workspace.id}/.gsv/summary.md`, content: "- Roses.\n" });
  model.on(/^\d$/, says("Yes."));
  const reset = async (words: string) => {
    await agent.ask(words);
    await ann.call("proc.reset", { pid });
  };
  model.on(SUMMARY, { status: 401 });
  await reset("1");
  await expect.poll(() => summaryPrompts(model)).toHaveLength(1);
  model.on(SUMMARY, says("  \n"));
  await reset("2");
  await expect.poll(() => summaryPrompts(model)).toHaveLength(2);
  model.on(SUMMARY, says("- Roses and lilies."));
  await reset("3");
  // One after another: the first two are finished.
  await expect.poll(() => workspace.summary()).toBe("- Roses and lilies.\n");
  expect(summaryPrompts(model)).toHaveLength(3);
  expect(summaryPrompts(model)[2]).toContain("- Roses.");
  expect((await workspace.commits()).toReversed().slice(2)).toEqual([
    ...Array.from({ length: 3 }, () => "gsv: checkpoint process reset"),
    "gsv: renew summary",
  ]);
});

stages("proc.kill:checkpoint", async ({ ann, spawn, model }) => {
  const agent = await spawn(NEW);
  const { pid } = agent;
  const workspace = await workspaceOf(ann, pid);
  model.on(/^\d$/, says("Yes.")).on(SUMMARY, { hang: true });
  // Nothing was said, or not in the default conversation.
  await ann.call("proc.kill", { pid });
  await agent.ask("1", { conversationId: "other" });
  await ann.call("proc.kill", { pid });
  await agent.ask("2");
  await ann.call("proc.kill", { pid, archive: false });
  expect(await workspace.commits()).toEqual(["gsv: checkpoint process kill", "gsv: scaffold workspace"]);
  expect(await workspace.chat()).toMatchObject([{ content: "2" }, { content: "Yes." }]);
  // An archived workspace accepts nothing, and does not prevent a kill.
  await agent.ask("3");
  await ann.call("sys.workspace.update", { workspaceId: workspace.id, state: "archived" });
  expect(await ann.call("proc.kill", { pid })).toMatchObject({ archivedMessages: 2 });
  await ann.call("sys.workspace.update", { workspaceId: workspace.id, state: "active" });
  expect(await workspace.chat()).toMatchObject([{ content: "2" }, { content: "Yes." }]);
  expect((await agent.history()).messages).toEqual([]);
});

async function processOf(client: Client, pid: string) {
  return (await client.call("proc.list", {})).processes.find((one) => one.pid === pid)!;
}

/** The workspace of a process, read from its repository. */
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

function summaryPrompts(model: Stage["model"]): string[] {
  return model.asked.map(toldText).filter((text) => text.includes("The summary so far:"));
}

/** Waits until the gateway's clock has advanced, so that the next change is newer. */
async function waitForClock(client: Client): Promise<void> {
  const { now } = await client.call("sys.info", {});
  await expect.poll(async () => (await client.call("sys.info", {})).now, { interval: 1 }).toBeGreaterThan(now);
}
