// The load tool: `npm run bench -- [scenario...] [--rounds N] [--seconds S]`. Starts the bundled gateway and its floors, compares
// them, and prints figures. A missed goal does not fail the run; only an error does.

import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { pinning } from "./children.ts";
import { type Finding, jsonLine, table } from "./report.ts";
import { attention } from "./scenarios/attention.ts";
import { bundles } from "./scenarios/bundles.ts";
import { cli } from "./scenarios/cli.ts";
import { connect } from "./scenarios/connect.ts";
import { copy } from "./scenarios/copy.ts";
import { desktop } from "./scenarios/desktop.ts";
import { device } from "./scenarios/device.ts";
import { files } from "./scenarios/files.ts";
import { growth } from "./scenarios/growth.ts";
import { scripts } from "./scenarios/scripts.ts";
import { shell } from "./scenarios/shell.ts";
import { repo } from "./scenarios/repo.ts";
import { search } from "./scenarios/search.ts";
import { clone } from "./scenarios/clone.ts";
import { memory } from "./scenarios/memory.ts";
import { idle } from "./scenarios/idle.ts";
import { read } from "./scenarios/read.ts";
import { schedules } from "./scenarios/schedules.ts";
import { start } from "./scenarios/start.ts";
import { history } from "./scenarios/history.ts";
import { sockets } from "./scenarios/sockets.ts";
import { sleepers } from "./scenarios/sleepers.ts";
import { streams } from "./scenarios/streams.ts";
import { times } from "./scenarios/times.ts";
import { turns } from "./scenarios/turns.ts";
import { work } from "./scenarios/work.ts";
import { write } from "./scenarios/write.ts";
import { type Options, Stage } from "./stage.ts";

const SCENARIOS: Record<string, (stage: Stage) => Promise<Finding[]>> = {
  read,
  write,
  connect,
  idle,
  sockets,
  start,
  cli,
  files,
  growth,
  shell,
  scripts,
  repo,
  search,
  clone,
  memory,
  desktop,
  device,
  copy,
  turns,
  streams,
  history,
  sleepers,
  schedules,
  times,
  attention,
  work,
  bundles,
};
const RUN_MS_MAX = 60 * 60 * 1000;

const { names, options } = parseChoices();
// A run that hangs ends here, and its exit ends all children.
setTimeout(() => {
  console.error("bench: out of time");
  process.exit(1);
}, RUN_MS_MAX).unref();

const stage = new Stage(options);
console.log(`${cpus().length} CPUs (${cpus()[0]?.model.trim()}), Node ${process.versions.node}; ${pinning}`);
console.log(`${options.rounds} rounds of ${options.seconds} s, medians; cells are gateway / floor\n`);
const findings: Finding[] = [];
for (const name of names) {
  console.error(`bench: ${name} ...`);
  findings.push(...(await SCENARIOS[name]!(stage)));
}
console.log(table(findings));
console.log("");
for (const finding of findings) console.log(jsonLine(finding));
process.exit(0);

function parseChoices(): { names: string[]; options: Options } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "3" },
      megabytes: { type: "string", default: "256" },
      bundle: { type: "string", default: join(import.meta.dirname, "../dist/gsv.js") },
      against: { type: "string" },
      profile: { type: "string" },
    },
  });
  for (const name of positionals) if (SCENARIOS[name] === undefined) usage(`no scenario ${name}`);
  if (positionals.includes("bundles") && values.against === undefined) usage("bundles compares with another build: --against FILE");
  return {
    names: positionals.length > 0 ? positionals : Object.keys(SCENARIOS),
    options: {
      rounds: parseWithin("rounds", values.rounds, 1, 20),
      seconds: parseWithin("seconds", values.seconds, 0.5, 60),
      megabytes: parseWithin("megabytes", values.megabytes, 1, 10_240),
      bundle: resolve(values.bundle),
      against: values.against === undefined ? null : resolve(values.against),
      profile: values.profile === undefined ? null : resolve(values.profile),
    },
  };
}

function parseWithin(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!(value >= least && value <= most)) usage(`--${name} is a number from ${least} to ${most}`);
  return value;
}

function usage(complaint: string): never {
  console.error(`bench: ${complaint}`);
  console.error(
    `usage: npm run bench -- [${Object.keys(SCENARIOS).join(" | ")}]... [--rounds N] [--seconds S] [--megabytes M] [--bundle FILE] [--against FILE] [--profile DIR]`,
  );
  process.exit(2);
}
