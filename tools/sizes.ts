// `npm run sizes`: files over 400 lines and functions over 70, largest first. A report, not a rule: a long one is a reason to look.
// `npm run sizes -- --draw 25 --seed 14` draws functions at random instead, for a reviewer who judges names and places.

import { parseArgs } from "node:util";
import { Random } from "../test/support/memory/random.ts";
import { functionsIn, type NamedFunction } from "./tidy/functions.ts";
import { readSources } from "./tidy/sources.ts";

const FILE_LINES = 400;
const FUNCTION_LINES = 70;
/** Functions shorter than this say too little about their names. */
const DRAWN_LINES_MIN = 3;

const { values } = parseArgs({ options: { draw: { type: "string" }, seed: { type: "string", default: "1" } } });
const sources = readSources().filter(({ path }) => !path.startsWith("src/generated/"));
const functions = sources.flatMap(functionsIn);

if (values.draw === undefined) printSizes();
else for (const { path, line, name } of draw(Number(values.draw), values.seed)) console.log(`${path}:${line} ${name}`);

function printSizes(): void {
  const files = sources.map(({ path, text }) => ({ path, lineCount: text.split("\n").length - 1 }));
  const lines = files.map(({ lineCount }) => lineCount).toSorted((a, b) => a - b);
  const total = lines.reduce((sum, count) => sum + count, 0);
  console.log(
    `${files.length} files, ${total} lines; median ${at(lines, 0.5)}, 90th percentile ${at(lines, 0.9)}, largest ${lines.at(-1)}`,
  );
  console.log(`${functions.length} functions`);
  print(
    `files over ${FILE_LINES} lines`,
    files.filter(({ lineCount }) => lineCount > FILE_LINES),
  );
  print(
    `functions over ${FUNCTION_LINES} lines`,
    functions
      .filter(({ lineCount }) => lineCount > FUNCTION_LINES)
      .map(({ path, name, lineCount }) => ({ path: `${path} ${name}`, lineCount })),
  );
}

function print(title: string, rows: readonly { path: string; lineCount: number }[]): void {
  console.log(`\n${title}: ${rows.length}`);
  for (const { path, lineCount } of rows.toSorted((a, b) => b.lineCount - a.lineCount)) console.log(`  ${lineCount}  ${path}`);
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

/** The same seed over the same tree draws the same functions. */
function draw(count: number, seed: string): NamedFunction[] {
  return new Random(seed)
    .shuffled(functions.filter(({ name, lineCount }) => name !== "constructor" && lineCount >= DRAWN_LINES_MIN))
    .slice(0, count);
}
