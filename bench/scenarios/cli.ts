// How long `gsv status` takes with a login, compared to a Node process that starts and does nothing.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { percentile } from "../stats.ts";

const RUNS = 20;
const GOAL_MS = 200;

export async function cli(stage: Stage): Promise<Finding[]> {
  const help = await stage.children.program([stage.program, "--help"]);
  if (!/^\s+status\b/m.test(help.output)) {
    console.error("cli: this bundle has no `status` yet; left out");
    return [];
  }
  const gateway = await stage.gateway();
  const env = { GSV_CONFIG: configFile(stage, gateway.port), GSV_HOME: stage.home };
  const mine: number[] = [];
  const theirs: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const status = await stage.children.program([stage.program, "status"], env);
    if (status.code !== 0) throw new Error(`gsv status ended with ${status.code}:\n${status.output}`);
    // Without a session it does less and still exits with 0.
    if (!new RegExp(`^you\\s+${stage.account.username}`, "m").test(status.output)) throw new Error(`Not logged in:\n${status.output}`);
    mine.push(status.ms);
    theirs.push((await stage.children.program(["-e", "0"])).ms);
  }
  await gateway.stop();
  const [p50Ms, floor] = [percentile(mine, 0.5), percentile(theirs, 0.5)];
  return [
    {
      bench: "gsv status",
      gateway: { p50Ms, p99Ms: percentile(mine, 0.99) },
      floor: { p50Ms: floor, p99Ms: percentile(theirs, 0.99) },
      ratio: p50Ms / floor,
      goal: "p50 < 200 ms",
      pass: p50Ms < GOAL_MS,
    },
  ];
}

/** The CLI's config file, as a login leaves it. */
function configFile(stage: Stage, port: number): string {
  const { username, token, tokenId, expiresAt } = stage.account;
  const file = join(stage.children.folder(), "config.toml");
  const lines = [
    "[gateway]",
    `url = "ws://127.0.0.1:${port}/ws"`,
    `username = "${username}"`,
    `session_token = "${token}"`,
    `session_token_id = "${tokenId}"`,
    `session_expires_at = ${expiresAt ?? Date.now() + 3_600_000}`,
    "",
  ];
  writeFileSync(file, lines.join("\n"), { mode: 0o600 });
  return file;
}
