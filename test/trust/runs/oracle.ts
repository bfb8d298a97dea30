// What must be true of two processes after any crash, seen from outside: what was asked for is there once, every call has its
// one result, nothing was done more often than the results say, and every run has ended once.

import type { Client } from "../../../src/client/client.ts";
import type { Bar } from "../bar.ts";
import { disorder, type Heard } from "../agents/heard.ts";
import { type Job, jobOf, jobOfCall } from "./jobs.ts";
import type { World } from "./world.ts";

type Message = { id: number; role: string; content: unknown };
type Call = { id: string; name: string; arguments: Record<string, unknown> | null };
type Result = { toolCallId: string; isError: boolean; output: string };

const PAGE = 200;

/** Whether each process rests or waits for a person who can see the question. */
export async function settled(world: World): Promise<string | null> {
  const { processes } = await world.client.call("proc.list", {});
  const { pending } = await world.client.call("proc.approval.list", {});
  const unsettled = processes.flatMap(({ pid, state, activeRunId, queuedCount }) => {
    if (state === "idle" && queuedCount === 0) return [];
    return state === "waiting_hil" && pending.some(({ runId }) => runId === activeRunId) ? [] : `${pid} is ${state}, ${queuedCount} wait`;
  });
  return unsettled.length === 0 ? null : unsettled.join("; ");
}

export async function isQuiet({ client }: World): Promise<boolean> {
  return (await client.call("proc.approval.list", {})).pending.length === 0;
}

export function ended({ told }: World, { pid, runId }: Job): number {
  return told.get(pid)!.filter(({ signal, payload }) => signal === "proc.run.finished" && payload.runId === runId).length;
}

export async function judge(bar: Bar, world: World, jobs: readonly Job[]): Promise<void> {
  const effects = await world.effects();
  for (const pid of world.pids) {
    const told = world.told.get(pid)!;
    bar.check(
      "numbered",
      told.every(({ seq }, at) => at === 0 || seq === told[at - 1]!.seq + 1),
      () => `${pid}: ${told.map(({ seq }) => seq).join(" ")}`,
    );
    const messages = await everything(world.client, pid);
    const requests = messages.flatMap(({ role, content }) => (role === "user" ? (jobOf(textOf(content)) ?? []) : []));
    for (const job of jobs.filter((one) => one.pid === pid)) {
      const count = requests.filter((name) => name === job.name).length;
      bar.check("messages", count === 1, () => `${job.name} (${job.kind}) is there ${count} times`);
      const ends = ended(world, job);
      bar.check("runs", ends === 1, () => `${job.name} (${job.kind}) ended ${ends} times`);
    }
    const said = messages.flatMap(heardIn);
    const wrong = disorder(said);
    bar.check("histories", wrong === null, () => `${pid}: ${wrong}`);
    calls(bar, said, messages, effects);
  }
  for (const [what, count] of effects) bar.check("effects", count === 0, () => `${what} was done ${count} times more than any call says`);
  bar.check("taken by providers", world.refused.length === 0, () => world.refused.slice(0, 3).join("; "));
  bar.check("no gaps", world.gaps === 0, () => `${world.gaps} times a follower was told to read the history anew`);
}

/** Takes what calls account for out of `effects`. */
function calls(bar: Bar, said: readonly Heard[], messages: readonly Message[], effects: Map<string, number>): void {
  const results = new Map(
    messages.flatMap(({ role, content }) => (role === "toolResult" ? [[(content as Result).toolCallId, content as Result]] : [])),
  );
  for (const one of said) {
    if (one.type !== "call" || one.name !== "Shell") continue;
    const what = `${String(one.args.target)} ${jobOfCall(one.args)}`;
    const count = effects.get(what) ?? 0;
    const { isError, output } = results.get(one.id)!;
    const isUnknown = /outcome is unknown|Still running/.test(output);
    const [least, most] = isUnknown ? [0, 1] : isError ? [0, 0] : [1, 1];
    bar.check(
      isUnknown ? "calls unknown" : isError ? "calls refused" : "calls done",
      count >= least && count <= most,
      () => `${what} was done ${count} times and its result says: ${output}`,
    );
    effects.set(what, 0);
  }
}

/** What was ever said in a process, archived or not, in its order. */
async function everything(client: Client, pid: string): Promise<Message[]> {
  const found: Message[] = [];
  const { segments } = await client.call("proc.conversation.segments", { pid });
  for (const { id: segmentId } of segments)
    found.push(...(await pages((page) => client.call("proc.conversation.segment.read", { pid, segmentId, ...page }))));
  found.push(...(await pages((page) => client.call("proc.history", { pid, ...page }))));
  return found;
}

async function pages(read: (page: { limit: number; offset: number }) => Promise<{ messages: Message[] }>): Promise<Message[]> {
  const found: Message[] = [];
  for (;;) {
    const { messages } = await read({ limit: PAGE, offset: found.length });
    found.push(...messages);
    if (messages.length < PAGE) return found;
  }
}

function heardIn({ role, content }: Message): Heard[] {
  if (role === "toolResult") return [{ type: "result", id: (content as Result).toolCallId, text: (content as Result).output }];
  if (role === "user") return [{ type: "user", text: textOf(content) }];
  if (role !== "assistant") return [];
  const { toolCalls = [] } = typeof content === "string" ? {} : (content as { toolCalls?: Call[] });
  return [
    { type: "assistant", text: textOf(content) },
    ...toolCalls.map(({ id, name, arguments: args }): Heard => ({ type: "call", id, name, args: args ?? {} })),
  ];
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : String((content as { text?: unknown }).text ?? "");
}
