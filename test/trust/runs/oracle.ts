// What must hold for two processes after any crash, seen from outside: each request is there once, every call has one result,
// nothing was done more often than the results say, and every run has ended once.

import type { Client } from "../../../src/client/client.ts";
import type { Bar } from "../bar.ts";
import { disorder, type Heard } from "../agents/heard.ts";
import { isAskedAbout, type Job, jobOf, jobOfCall } from "./jobs.ts";
import type { World } from "./world.ts";

type Message = { id: number; role: string; content: unknown };
type Call = { id: string; name: string; arguments: Record<string, unknown> | null };
type Result = { toolCallId: string; isError: boolean; output: string };

const PAGE = 200;
const QUESTIONS = 200;

/** The gateway's view of the processes now: `limbo` is work that no process is doing, `asks` are processes that wait for a person. */
export type Present = { limbo: string[]; busy: string[]; asks: string[] };

export async function present(world: World, jobs: readonly Job[]): Promise<Present> {
  const { pending } = await world.client.call("proc.approval.list", {});
  const { processes } = await world.client.call("proc.list", {});
  const found: Present = { limbo: [], busy: [], asks: [] };
  for (const { pid, state, activeRunId, queuedCount } of processes) {
    const open = jobs.filter((job) => job.pid === pid && ended(world, job) === 0);
    const story = `${pid} is ${state}, ${queuedCount} wait, ${open.map(({ name }) => name).join(" ")} not ended`;
    if (state === "idle") found.limbo.push(...(open.length + queuedCount === 0 ? [] : [story]));
    else if (activeRunId === null) found.limbo.push(story);
    else if (pending.some(({ runId }) => runId === activeRunId)) found.asks.push(story);
    else found.busy.push(story);
  }
  return found;
}

export function ended({ told }: World, { pid, runId }: Job): number {
  return told.get(pid)!.filter(({ signal, payload }) => signal === "proc.run.finished" && payload.runId === runId).length;
}

/** `allowed` are the calls for which an approval was sent. */
export async function judge(bar: Bar, world: World, jobs: readonly Job[], allowed: ReadonlySet<string>): Promise<void> {
  const effects = await world.effects();
  const over = await world.client.call("proc.approval.history", { limit: QUESTIONS });
  const questions = new Set(over.questions.map(({ callId }) => callId));
  for (const pid of world.pids) {
    const told = world.told.get(pid)!;
    bar.check(
      "numbered",
      told.every(({ seq }, at) => at === 0 || seq === told[at - 1]!.seq + 1),
      () => `${pid}: ${told.map(({ seq }) => seq).join(" ")}`,
    );
    const messages = await readAllMessages(world.client, pid);
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
    if (wrong === null) checkEffects(bar, said, messages, effects, { allowed, questions });
  }
  for (const [what, count] of effects) bar.check("effects", count === 0, () => `${what} was done ${count} times more than any call says`);
  bar.check("taken by providers", world.refused.length === 0, () => world.refused.slice(0, 3).join("; "));
  bar.check("no gaps", world.gaps === 0, () => `${world.gaps} times a follower was told to read the history anew`);
}

/** Compares how often each job was done with what the results of its calls say. */
function checkEffects(
  bar: Bar,
  said: readonly Heard[],
  messages: readonly Message[],
  effects: Map<string, number>,
  { allowed, questions }: Record<"allowed" | "questions", ReadonlySet<string>>,
): void {
  const results = messages.flatMap(({ role, content }) => (role === "toolResult" ? [content as Result] : []));
  const told = new Map<string, { least: number; most: number; outputs: string[] }>();
  for (const [at, { id, args, name }] of said.filter((one) => one.type === "call").entries()) {
    const job = jobOfCall(args);
    if (name !== "Shell" || job === null) continue;
    const { isError, output } = results[at]!;
    const isUnknown = /outcome is unknown|Still running/.test(output);
    // For a call whose question did not exist yet when the gateway died, an unknown outcome is allowed.
    if (isAskedAbout(args) && (isUnknown ? questions.has(id) : !isError))
      bar.check("allowed", allowed.has(id), () => `${id} was never allowed, and its result says: ${output}`);
    const account = told.get(`${String(args.target)} ${job}`) ?? { least: 0, most: 0, outputs: [] };
    account.least += isUnknown || isError ? 0 : 1;
    account.most += isError && !isUnknown ? 0 : 1;
    account.outputs.push(output);
    told.set(`${String(args.target)} ${job}`, account);
    bar.check(isUnknown ? "calls unknown" : isError ? "calls refused" : "calls done", true, () => "");
  }
  for (const [what, { least, most, outputs }] of told) {
    const count = effects.get(what) ?? 0;
    bar.check(
      "effects",
      count >= least && count <= most,
      () => `${what} was done ${count} times, and the results say: ${outputs.join(" | ")}`,
    );
    effects.delete(what);
  }
}

/** All messages of a process, archived or not, in order. */
async function readAllMessages(client: Client, pid: string): Promise<Message[]> {
  const found: Message[] = [];
  const { segments } = await client.call("proc.conversation.segments", { pid });
  for (const { id: segmentId } of segments)
    found.push(...(await pages((page) => client.call("proc.conversation.segment.read", { pid, segmentId, ...page }))));
  found.push(...(await pages((page) => client.call("proc.history", { pid, ...page }))));
  return found;
}

/** Reads all pages of a history. */
export async function pages<T>(read: (page: { limit: number; offset: number }) => Promise<{ messages: T[] }>): Promise<T[]> {
  const found: T[] = [];
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
  return typeof content === "string" ? content : ((content as { text?: string }).text ?? "");
}
