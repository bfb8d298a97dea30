// Proves that every trust bar can fail: removes a guard in a copy of the tree (prove/mutations.ts), runs the bar there with its
// default numbers, and expects it to fail because of that. Owns the copy, the runs in it and the verdicts.
//   npm run trust:prove -- [--control] [BAR...]
// Arguments select bars. `--control` first runs each bar in the unchanged copy. The last line is the summary.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { withEmptyHome } from "../support/empty-home.ts";
import { type Mutation, MUTATIONS } from "./prove/mutations.ts";

type BarExit = { code: number | null; output: string; result: { pass: boolean } | null; isLate: boolean };
type Verdict = { word: string; isGood: boolean; lines: string[] };

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const LEFT_OUT = new Set([".git", "node_modules"]);
const BAR_MS = 10 * 60_000;
/** How long a bar has to end its children after SIGTERM. */
const STOP_TIMEOUT_MS = 10_000;
const OUTPUT_TIMEOUT_MS = 2_000;
const LINES_SHOWN = 12;
const LINE_CHARS = 300;
const WIDTHS = [14, 30, 12];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { control: { type: "boolean", default: false } } });
const bars = barNames();
const wanted = positionals.length === 0 ? bars : positionals.map((name) => name.replace(/^trust:/, ""));
for (const name of wanted) {
  if (bars.includes(name)) continue;
  console.error(`There is no bar ${name}: ${bars.join(", ")}`);
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), "gsv-prove-"));
const tree = join(scratch, "tree");
const running = new Set<ChildProcess>();
/** Set by a signal: nothing new starts. */
let isEnding = false;
let caught = 0;
let missed = 0;
process.on("exit", removeScratch);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => void endAll().then(() => process.exit(1)));

copyTree();
printRow("bar", "mutation", "verdict", "seconds");
for (const bar of wanted) await prove(bar);
console.log(`${caught} caught, ${missed} not caught`);
process.exitCode = missed === 0 ? 0 : 1;

/** Every script trust:* except this one. */
function barNames(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };
  const names = Object.keys(scripts).filter((name) => name.startsWith("trust:"));
  return names.map((name) => name.slice("trust:".length)).filter((name) => name !== "prove");
}

async function prove(bar: string): Promise<void> {
  const mutations = MUTATIONS.filter((mutation) => mutation.bar === bar);
  if (mutations.length === 0) report(bar, "", { word: "NO MUTATION", isGood: false, lines: [] }, 0);
  const since = Date.now();
  const control = values.control ? judgeControl(await runBar(bar)) : null;
  if (control !== null) printVerdict(bar, "(unchanged)", control, since);
  for (const mutation of mutations) {
    const startedAt = Date.now();
    const verdict = control?.isGood === false ? NOT_TRIED : await tryMutation(mutation);
    report(bar, mutation.name, verdict, startedAt);
  }
}

const NOT_TRIED: Verdict = { word: "NOT TRIED", isGood: false, lines: ["The bar fails without a mutation."] };

async function tryMutation(mutation: Mutation): Promise<Verdict> {
  const file = join(tree, mutation.file);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const count = text.split(mutation.find).length - 1;
  if (count !== 1) {
    const lines = [`The text is in ${mutation.file} ${count} times and must be there once: ${mutation.find}`];
    return { word: "OUT OF DATE", isGood: false, lines };
  }
  // A function, so that a `$` in the replacement is literal.
  writeFileSync(
    file,
    text.replace(mutation.find, () => mutation.replace),
  );
  try {
    return judge(mutation, await runBar(mutation.bar));
  } finally {
    writeFileSync(file, text);
  }
}

/** A bar that crashed, or failed for another reason, proves nothing about the guard. */
function judge({ says, breaks }: Mutation, ended: BarExit): Verdict {
  const { code, output, result, isLate } = ended;
  const found = says.exec(output);
  if (code === 1 && result?.pass === false && found !== null) return { word: "caught", isGood: true, lines: [lineAt(output, found.index)] };
  const why = isLate
    ? `It was ended after ${BAR_MS / 60_000} minutes.`
    : result === null
      ? `It crashed with exit code ${code}, without a result.`
      : result.pass
        ? "It passes."
        : `It fails without saying ${says}.`;
  return { word: "NOT CAUGHT", isGood: false, lines: [`${breaks} ${why}`, ...lastLines(output)] };
}

function judgeControl({ code, output, result }: BarExit): Verdict {
  const isGood = code === 0 && result?.pass === true;
  return { word: isGood ? "passes" : "FAILS", isGood, lines: isGood ? [] : lastLines(output) };
}

/** The line in which the pattern was found. */
function lineAt(output: string, index: number): string {
  const start = output.lastIndexOf("\n", index) + 1;
  return output.slice(start).split("\n", 1)[0]!.trim();
}

function lastLines(output: string): string[] {
  return output.trimEnd().split("\n").slice(-LINES_SHOWN);
}

/** Some bars run the build in dist/, which must match the present sources. */
async function runBar(bar: string): Promise<BarExit> {
  const built = await run(["tools/setup.mjs", "build"]);
  return built.code === 0 ? run([`test/trust/${bar}.ts`]) : { ...built, result: null };
}

/** Runs it in its own process group, so that its children can be ended with it. */
function run(args: readonly string[]): Promise<BarExit> {
  const temporary = mkdtempSync(join(scratch, "run-"));
  const home = join(temporary, "empty-home");
  mkdirSync(home);
  const env = { ...withEmptyHome(home, process.env), TMPDIR: temporary };
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: tree, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    let output = "";
    let isLate = false;
    running.add(child);
    const guard = setTimeout(() => {
      isLate = true;
      void end(child);
    }, BAR_MS);
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => void (output += text));
    child.on("error", (error) => void (output += `${error.message}\n`));
    child.on("exit", (code) => {
      signalGroup(child, "SIGKILL");
      const finish = () => {
        clearTimeout(guard);
        clearTimeout(outputTimer);
        running.delete(child);
        removeFolder(temporary);
        if (!isEnding) resolve({ code, output, result: resultIn(output), isLate });
      };
      // A process that it left running may keep its output open.
      const outputTimer = setTimeout(finish, OUTPUT_TIMEOUT_MS);
      child.once("close", finish);
    });
  });
}

/** The line of JSON with which a bar ends. */
function resultIn(output: string): { pass: boolean } | null {
  const line = output.split("\n").findLast((one) => one.startsWith('{"bar":'));
  return line === undefined ? null : (JSON.parse(line) as { pass: boolean });
}

async function end(child: ChildProcess): Promise<void> {
  signalGroup(child, "SIGTERM");
  const killTimer = setTimeout(() => signalGroup(child, "SIGKILL"), STOP_TIMEOUT_MS);
  await new Promise((resolve) => (child.exitCode === null && child.signalCode === null ? child.once("exit", resolve) : resolve(null)));
  clearTimeout(killTimer);
}

async function endAll(): Promise<void> {
  isEnding = true;
  await Promise.all([...running].map(end));
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // All of them have ended.
  }
}

function copyTree(): void {
  mkdirSync(tree);
  for (const name of readdirSync(ROOT)) {
    if (!LEFT_OUT.has(name)) cpSync(join(ROOT, name), join(tree, name), { recursive: true, verbatimSymlinks: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
}

/** Removes a folder; a bar that was killed may have left a small disk mounted in it. */
function removeFolder(folder: string): void {
  const mounts = existsSync("/proc/mounts") ? readFileSync("/proc/mounts", "utf8").split("\n") : [];
  for (const place of mounts.map((line) => line.split(" ")[1] ?? "").filter((one) => one.startsWith(`${folder}/`))) {
    try {
      execFileSync("umount", [place], { stdio: "ignore" });
    } catch {
      // Then the folder cannot be removed either, which is not a reason to fail.
    }
  }
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    console.error(`${folder} could not be removed: ${String(error)}`);
  }
}

function removeScratch(): void {
  removeFolder(scratch);
}

function report(bar: string, mutation: string, verdict: Verdict, startedAt: number): void {
  if (verdict.isGood) caught++;
  else missed++;
  printVerdict(bar, mutation, verdict, startedAt);
}

function printVerdict(bar: string, mutation: string, { word, lines }: Verdict, startedAt: number): void {
  printRow(bar, mutation, word, startedAt === 0 ? "" : ((Date.now() - startedAt) / 1000).toFixed(1));
  for (const line of lines) console.log(`    ${line.slice(0, LINE_CHARS)}`);
}

function printRow(...cells: string[]): void {
  console.log(
    cells
      .map((cell, at) => cell.padEnd(WIDTHS[at] ?? 0))
      .join(" ")
      .trimEnd(),
  );
}
