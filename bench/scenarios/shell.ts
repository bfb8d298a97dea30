// shell.exec compared to just-bash alone in its own process, without a network: with one interpreter for all commands, and with a
// new one for each, which carries no state from command to command.

import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { middle } from "../stats.ts";
import { textOf } from "../text.ts";

const FILE_BYTES = 4096;
const GOAL = 0.5;

export async function shell(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const file = textOf(0, FILE_BYTES);
  const connection = await stage.line(gateway);
  await connection.call("fs.write", { path: "~/f", content: file });
  const findings: Finding[] = [];
  for (const script of ["echo hi", "cat f | wc -l"]) {
    const first = await connection.call("shell.exec", { input: script, cwd: "~" });
    if (first.status !== "completed") throw new Error(`${script}: ${JSON.stringify(first)}`);
    const alone = (isKept: boolean) => stage.alone({ work: "bash", script, file, isKept, seconds: stage.options.seconds });
    const floors = { kept: [], fresh: [] } as Record<"kept" | "fresh", Awaited<ReturnType<typeof alone>>[]>;
    for (const inFlight of [1, 8]) {
      const [mine] = await stage.compare(
        [gateway],
        (target) => ({
          do: "pipeline",
          target,
          call: "shell.exec",
          args: [{ input: script, cwd: "~" }],
          inFlight,
          seconds: stage.options.seconds,
        }),
        async () => {
          floors.kept.push(await alone(true));
          floors.fresh.push(await alone(false));
        },
      );
      for (const how of ["kept", "fresh"] as const) {
        const floor = middle(floors[how]);
        const ratio = mine!.perSecond! / floor.perSecond!;
        const bench = `shell.exec ${script.replaceAll("|", "\\|")}, ${inFlight} in flight, interpreter ${how}`;
        const isGoal = script === "echo hi";
        findings.push({
          bench,
          gateway: mine!,
          floor,
          ratio,
          goal: isGoal ? ">= 0.5 of just-bash alone" : "",
          pass: isGoal ? ratio >= GOAL : null,
        });
      }
    }
  }
  connection.close();
  await gateway.stop();
  return findings;
}
