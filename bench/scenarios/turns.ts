// How long an agent's turn takes beyond its model, with text only and with one tool call, and with many processes at once. The
// provider's own time is measured by calling it directly and subtracted from both sides.

import { WARM_UP_MS } from "../load.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { type Measure, middle } from "../stats.ts";

const AT_ONCE = [1, 8, 64];
const PROMPTS = { text: "hello there", tool: "read the file and tell me" };
const GOAL_MS = { text: 3, tool: 6 };
const GOAL_CPU_MS = 3;
const GOAL_FIRST_MS = 2.5;
const GOAL_PER_SECOND = { text: 500, tool: 200 };

export async function turns(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const provider = await stage.provider(gateway);
  const floor = await stage.turnFloor(provider);
  const connection = await stage.line(gateway);
  await connection.call("fs.write", { path: "~/f", content: "a small file\n" });
  const countSyncs = await stage.syncCounter(gateway);
  let pids: string[] = [];
  const warmUp = stage.load();
  /**
   * New ones for every round: the conversation of a fast round would be a long history for the next. Each has answered once, because
   * a process makes its database with its first message.
   */
  const renewProcesses = async (count: number) => {
    pids = [];
    for (let at = 0; at < count; at++) pids.push((await connection.call("proc.spawn", { profile: "task", label: `turns ${at}` })).pid);
    await warmUp.run({ do: "turns", target: stage.target(gateway), pids, message: PROMPTS.text, seconds: 0.1 });
  };
  const findings: Finding[] = [];
  for (const kind of ["text", "tool"] as const) {
    for (const count of AT_ONCE) {
      await renewProcesses(count);
      const provided: Measure[] = [];
      const load = stage.load();
      const [mine, theirs] = await stage.compare(
        [gateway, floor],
        (target) => ({ do: "turns", target, pids, message: PROMPTS[kind], seconds: stage.options.seconds }),
        async () => {
          provided.push(await load.run({ do: "provider", port: provider.port, messages: messagesOf(kind), seconds: 1 }));
          await renewProcesses(count);
        },
      );
      const syncsBefore = await countSyncs();
      const job = { do: "turns" as const, target: stage.target(gateway), pids, message: PROMPTS[kind], seconds: stage.options.seconds };
      const { perSecond } = await load.run(job);
      const syncsPerCall = ((await countSyncs()) - syncsBefore) / (perSecond! * (stage.options.seconds + WARM_UP_MS / 1000));
      load.stop();
      // A single turn waits for the model; with many, the model's time overlaps the others' work and is not subtracted.
      const [gatewaySide, floorSide] = count === 1 ? [mine!, theirs!].map((one) => without(one, middle(provided))) : [mine!, theirs!];
      findings.push(finding(kind, count, { ...gatewaySide!, syncsPerCall }, floorSide!));
    }
  }
  warmUp.stop();
  connection.close();
  await Promise.all([gateway, floor, provider].map((server) => server.stop()));
  return findings;
}

function messagesOf(kind: keyof typeof PROMPTS): object[][] {
  const user = { role: "user", content: PROMPTS[kind] };
  return kind === "text" ? [[user]] : [[user], [user, { role: "tool", content: "a small file" }]];
}

/** With a tool, the first words come in the second answer of the model. */
function without(measure: Measure, provider: Measure): Measure {
  const ms = provider.p50Ms!;
  const firstP50Ms = measure.firstP50Ms! - Math.max(provider.firstP50Ms!, ms - provider.firstP50Ms!);
  return { ...measure, p50Ms: measure.p50Ms! - ms, p99Ms: measure.p99Ms! - ms, firstP50Ms };
}

function finding(kind: keyof typeof PROMPTS, count: number, gateway: Measure, floor: Measure): Finding {
  const bench = `turn, ${kind === "text" ? "words alone" : "one tool call"}, ${count} at once${count === 1 ? ", beyond the model" : ""}`;
  if (count === 1) {
    const goal = `p50 <= ${GOAL_MS[kind]} ms${kind === "text" ? `, CPU <= ${GOAL_CPU_MS} ms, first word <= ${GOAL_FIRST_MS} ms` : ""}`;
    const isFast = gateway.p50Ms! <= GOAL_MS[kind];
    const pass = isFast && (kind === "tool" || (gateway.cpuMsPerCall! <= GOAL_CPU_MS && gateway.firstP50Ms! <= GOAL_FIRST_MS));
    return { bench, gateway, floor, ratio: gateway.p50Ms! / floor.p50Ms!, goal, pass };
  }
  const least = GOAL_PER_SECOND[kind];
  const isGoal = kind === "text" || count === 8;
  const pass = isGoal ? gateway.perSecond! >= least : null;
  return { bench, gateway, floor, ratio: gateway.perSecond! / floor.perSecond!, goal: isGoal ? `>= ${least} turns/s` : "", pass };
}
