// The gateway crashes right before or right after every effect: during compaction, a budget question, a fork or a reset. Nothing
// is lost or doubled, and every run ends once.

import { expect, it } from "vitest";
import { makeSqlThatLosesWrites, text, World } from "../../../test/support/process-world.ts";
import type { ModelRequest } from "../../ports/models.ts";
import { fromArchive } from "../conversation/archive.ts";
import type { Message } from "../rows/history.ts";

const RUNS = ["one", "two", "three"];
const LONG = "x".repeat(14_000);

/** A deterministic model: two reads for every request, then a text. */
function answer({ messages, system }: ModelRequest) {
  if (system.startsWith("Summarize")) return [text("in short")];
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const results = messages.slice(lastUser).filter(({ role }) => role === "tool").length;
  if (results === 2) return [text("done")];
  const call = (path: string) => ({ type: "toolCall" as const, id: path, name: "Read", arguments: { target: "gsv", path } });
  return [call(`${messages.length}-a`), call(`${messages.length}-b`)];
}

/** Repeats some work across restarts until it is done. */
async function untilDone(world: World, work: () => Promise<unknown> | void, isDone: () => boolean): Promise<void> {
  let life = 0;
  await expect
    .poll(
      () => {
        if (isDone()) return true;
        if (world.hasDied) {
          world.begin();
          world.process.onWake();
        }
        if (life !== world.life) {
          life = world.life;
          void work()?.catch(() => {});
        }
        const requestId = world.process.activeRun?.budgetRequest?.requestId;
        if (requestId !== undefined) world.process.handleBudgetDecision(requestId, true);
        return isDone();
      },
      { interval: 1 },
    )
    .toBe(true);
}

async function scenario(crashAt: number, world: World): Promise<{ world: World; steps: number }> {
  world.crashAt = crashAt;
  world.answer = answer;
  world.budget = { run: { modelCalls: 1 }, process: {} };
  world.process.conversation.setPolicy({ overflow: "auto-compact", keepLast: 1, compactAtPressure: 0.8 });
  world.sql.commit();
  const isIdle = () => !world.hasDied && world.process.activeRun === undefined && world.process.queuedRunCount === 0;
  const isSaid = (runId: string) => world.sql.get("SELECT 1 FROM runs WHERE run_id = ?", runId) !== undefined;
  for (const runId of RUNS)
    await untilDone(
      world,
      async () => void world.say(`${runId} ${LONG}`, { runId }),
      () => isSaid(runId) && isIdle(),
    );
  const segment = world.process.conversation.listSegments({}).at(-1);
  if (segment === undefined) throw new Error("nothing was compacted");
  const forked = () => world.process.conversation.get({ conversationId: "copy" })?.messageCount ?? 0;
  await untilDone(
    world,
    () => world.process.conversation.fork({ segmentId: segment.id, targetConversationId: "copy" }),
    () => forked() > 0 && isIdle(),
  );
  await untilDone(
    world,
    async () => {
      world.say("last", { runId: "last" });
      await world.process.conversation.reset({});
    },
    () => world.process.conversation.get({})?.generation === 2 && isIdle(),
  );
  return { world, steps: world.steps };
}

/** All messages the default conversation ever had, archived or not. */
async function allMessages(world: World): Promise<Message[]> {
  const paths = new Set(
    world.process.events
      .listCompleteAfter(0, 10_000)!
      .filter((event) => event.signal === "proc.changed")
      .flatMap(({ payload: { event, archivedTo } }) =>
        event === "conversation.reset" || event === "conversation.compacted" ? (archivedTo ?? []) : [],
      ),
  );
  const archived = await Promise.all([...paths].map((path) => fromArchive(world.archives.get(path)!)));
  return [...archived.flat(), ...world.process.history.page("default", 0, 1_000).messages];
}

it.each([
  ["its last writes are kept", () => new World()],
  ["its last writes are lost", () => new World(makeSqlThatLosesWrites())],
])("survives a crash at every step if %s", async (_, begin) => {
  const { steps } = await scenario(Number.POSITIVE_INFINITY, begin());
  expect(steps).toBeGreaterThan(40);
  for (let crashAt = 1; crashAt <= steps; crashAt++) {
    const { world } = await scenario(crashAt, begin());
    const where = `died at ${crashAt}`;
    const all = await allMessages(world);
    const requests = all.flatMap((message) => (message.role === "user" ? message.text.slice(0, 5).trim() : []));
    expect(requests.filter((words) => words !== "last").toSorted(), where).toEqual(["one x", "three", "two x"]);
    expect(requests.filter((words) => words === "last").length, where).toBeLessThanOrEqual(1);
    const calls = all.flatMap((message) =>
      message.role === "assistant"
        ? message.blocks.flatMap((block) => (block.type === "toolCall" ? `${message.runId} ${block.id}` : []))
        : [],
    );
    const results = all.flatMap((message) => (message.role === "toolResult" ? `${message.runId} ${message.callId}` : []));
    expect(results.toSorted(), where).toEqual(calls.toSorted());
    expect(new Set(calls).size, where).toBe(calls.length);
    // Every effect appears in the history.
    for (const { runId, callId } of world.effects) expect(calls, where).toContain(`${runId} ${callId}`);
    const ends = world.process.events.listCompleteAfter(0, 10_000)!.filter(({ signal }) => signal === "proc.run.finished");
    expect(ends.map(({ payload }) => String(payload.runId)).toSorted(), where).toEqual([...RUNS, "last"].toSorted());
    world.sql.close();
  }
});
