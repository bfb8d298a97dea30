// gsv sched, crontab, notify and signal: the commands of the gateway's shell, with the time zone, the files and the editor of this
// machine.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shellQuote } from "../../lib/quote.ts";
import { type Globals, withClient } from "../session/session.ts";
import { readStdinRest } from "../terminal/ask.ts";
import { Problem } from "../terminal/problem.ts";
import { printNote, printSentences } from "../terminal/terminal.ts";
import { runToEnd } from "./run.ts";

export async function runHere(flags: Globals, name: string, words: readonly string[]): Promise<number> {
  const [first, ...rest] = words;
  // commander takes --json for itself, wherever it is.
  const json = flags.json === true ? ["--json"] : [];
  return runThere(flags, [name, ...(first === undefined ? json : [first, ...json, ...rest])], "");
}

type CrontabFlags = Globals & { l?: boolean; e?: boolean; r?: boolean };

export async function crontab(flags: CrontabFlags, [file]: readonly string[]): Promise<number> {
  const chosen = [flags.l, flags.e, flags.r, file !== undefined].filter(Boolean).length;
  if (chosen > 1) throw new Problem("Give one of -l, -e, -r, a file and -");
  if (flags.r === true) return runThere(flags, ["crontab", "-r"], "");
  if (file !== undefined) return install(flags, file === "-" ? await readStdinRest() : readLocal(file));
  return flags.e === true ? edit(flags) : runThere(flags, ["crontab", "-l"], "");
}

async function edit(flags: Globals): Promise<number> {
  const before = await withClient(flags, async (client) => {
    const answer = await client.call("shell.exec", { input: `${inThisZone()} crontab -l`, streams: true });
    if (answer.status === "completed" && answer.exitCode === 0) return answer.stdout ?? "";
    throw new Problem(`The crontab could not be read: ${answer.output.trim()}`);
  });
  const folder = mkdtempSync(join(tmpdir(), "gsv-crontab-"));
  const path = join(folder, "crontab");
  writeFileSync(path, before, { mode: 0o600 });
  let isDone = false;
  try {
    const editor = process.env.VISUAL || process.env.EDITOR || "vi";
    const { status, error } = spawnSync(`${editor} ${shellQuote(path)}`, { shell: true, stdio: "inherit" });
    if (error !== undefined || status !== 0)
      throw new Problem(`${editor} failed: nothing was changed. Set EDITOR to the command that you edit with`);
    const after = readFileSync(path, "utf8");
    if (after === before) printSentences("No changes");
    const code = after === before ? 0 : await install(flags, after);
    isDone = code === 0;
    return code;
  } finally {
    // What somebody wrote is not lost because the gateway did not take it, or could not be reached.
    if (isDone || !isEdited(path, before)) rmSync(folder, { recursive: true, force: true });
    else printNote(`gsv: your text is still in ${path}: once the problem is fixed, install it with gsv crontab ${path}`);
  }
}

function isEdited(path: string, before: string): boolean {
  try {
    return readFileSync(path, "utf8") !== before;
  } catch {
    return false;
  }
}

function readLocal(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Problem(`Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function install(flags: Globals, text: string): Promise<number> {
  return runThere(flags, ["crontab", "-"], text);
}

function runThere(flags: Globals, words: readonly string[], input: string): Promise<number> {
  const typed = input === "" ? "" : ` ${asHereDocument(input)}`;
  const command = `${inThisZone()} ${words.map(shellQuote).join(" ")}${typed}`;
  return withClient(flags, (client) => runToEnd(client, { input: command }, { json: false, sendsInput: false }));
}

function inThisZone(): string {
  return `TZ=${shellQuote(process.env.TZ || Intl.DateTimeFormat().resolvedOptions().timeZone)}`;
}

function asHereDocument(text: string): string {
  let end = "END_OF_TEXT";
  while (text.includes(end)) end += "_";
  return `<<'${end}'\n${text.endsWith("\n") ? text : `${text}\n`}${end}`;
}
