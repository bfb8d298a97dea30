// The jobs of agents in this campaign, and a model that does them. The model is stateless: from each request it finds the jobs
// that have no calls yet, and makes those calls. So a request repeated after a crash gets the same answer.

import type { Asked, Reply } from "../../support/models/provider.ts";
import type { Said } from "../../support/models/script.ts";
import { type Heard, heard } from "../agents/heard.ts";

export const DEVICE = "bench";

const KINDS = {
  /** Only text. */
  text: () => [],
  /** A command on the gateway that needs no approval. */
  gsv: (job) => [shell("gsv", `echo ${job} >> effects.log`)],
  /** A command that needs approval, because it deletes. */
  ask: (job) => [shell("gsv", `rm -f nothing-of-${job}; echo ${job} >> effects.log`)],
  /** A command on a device, which always needs approval. */
  device: (job) => [shell(DEVICE, `echo ${job} >> effects.log`)],
  /** Several calls in one turn. */
  both: (job) => [
    { name: "Read", args: { target: "gsv", path: "." } },
    shell("gsv", `echo ${job} >> effects.log`),
    shell(DEVICE, `echo ${job} >> effects.log`),
  ],
} satisfies Record<string, (job: string) => { name: string; args: Record<string, unknown> }[]>;

export type Kind = keyof typeof KINDS;
export const ALL_KINDS = Object.keys(KINDS) as Kind[];

export type Job = { name: string; kind: Kind; pid: string; runId: string };

/** Long enough that a few of them fill a small context. */
export function request({ name, kind }: Pick<Job, "name" | "kind">): string {
  return `<${name} ${kind}> please. ${"Take care of all the details. ".repeat(20)}`;
}

export function jobOf(text: string): string | null {
  return /<(job-\d+) \w+>/.exec(text)?.[1] ?? null;
}

/** The job for which a call was made. */
export function jobOfCall(args: Record<string, unknown>): string | null {
  return /job-\d+/.exec(JSON.stringify(args))?.[0] ?? null;
}

/** On devices everything, on the gateway commands that delete. */
export function isAskedAbout({ target, input }: Record<string, unknown>): boolean {
  return target === DEVICE || String(input).startsWith("rm ");
}

export function answerTo(asked: Asked): Reply {
  const { tools } = asked.body;
  if (!Array.isArray(tools) || tools.length === 0) return { say: [{ type: "text", text: "In short: jobs were done." }] };
  const said = heard(asked);
  const made = new Set(said.flatMap((one) => (one.type === "call" ? (jobOfCall(one.args) ?? []) : [])));
  const wanted = said.flatMap(jobsIn);
  for (const [job, kind] of wanted) {
    const calls = KINDS[kind](job);
    if (made.has(job) || calls.length === 0) continue;
    return { say: calls.map(({ name, args }, at): Said => ({ type: "call", id: `c-${job}-${at}`, name, args: JSON.stringify(args) })) };
  }
  return { say: [{ type: "text", text: `Done with everything that was asked for: ${wanted.map(([job]) => job).join(", ")}.` }] };
}

function jobsIn(one: Heard): [string, Kind][] {
  if (one.type !== "user") return [];
  return [...one.text.matchAll(/<(job-\d+) (\w+)>/g)].map(([, job, kind]) => [job!, kind as Kind]);
}

function shell(target: string, input: string) {
  return { name: "Shell", args: { target, input } };
}
