// gsv cp: copies files between this machine and targets, or from target to target. Unlike in the other file commands, a path
// without a target is on this machine and not on the gateway.

import { type Client, CallError } from "../../client/client.ts";
import { localEndpoint, type FileKind, targetEndpoint } from "../files/copy-endpoint.ts";
import { humanSize } from "../../hardware/text.ts";
import { explainDevice } from "../device/no-such-device.ts";
import { parseTargetPath } from "../files/target-path.ts";
import { Problem, printError } from "../terminal/problem.ts";
import { type Globals, withClient } from "../session/session.ts";
import { note, printable, sayJson } from "../terminal/terminal.ts";
import { type Progress, type Side, transfer } from "../files/transfer.ts";

type Flags = Globals & { recursive?: boolean; clobber?: boolean };
type Job = { from: Side; to: Side };
type CopyResult = { from: string; to: string; size: number };

const PROGRESS_FILES_MIN = 5;
const PROGRESS_BYTES_MIN = 8 * 1024 * 1024;
const PROGRESS_MS = 200;
const ERASE = "\r\u001b[K";

export async function cp(flags: Flags, texts: readonly string[]): Promise<number> {
  const [last = "", ...others] = texts.toReversed();
  if (others.length === 0) throw new Problem(`No destination for ${last}: gsv cp FROM TO`);
  const places = texts.map((text) => parseTargetPath(text, "."));
  if (places.every(({ target }) => target === undefined))
    throw new Problem("All paths are on this machine: write gsv:PATH for the gateway, or laptop:PATH for a device");
  return withClient(flags, async (client) => {
    client.keepConnected();
    const to = side(client, last);
    const toKind = await to.depot.kind(to.path);
    if (others.length > 1 && toKind !== "directory" && !isFolderText(last))
      throw new Problem(`Not a directory: ${last}. To copy several files into a new directory, add a / at the end`);
    if (toKind === null && isFolderText(last)) await to.depot.makeDirectory(to.path);
    const copied: CopyResult[] = [];
    let exitCode = 0;
    const reportFailure = async (error: unknown) => {
      // A file that cannot be copied does not stop the others.
      if (!(error instanceof CallError) && !(error instanceof Problem)) throw error;
      endProgress();
      exitCode = printError(await explainDevice(client, error));
    };
    for (const text of others.toReversed()) {
      try {
        const from = side(client, text);
        const target = toKind === "directory" || isFolderText(last) ? inside(to, nameOf(from.path, text)) : to;
        const jobs = await planJobs(from, target, flags.recursive === true);
        for (const [at, job] of jobs.entries()) {
          await copy(client, job, flags, progressLine(at, jobs.length, job)).then((one) => one !== null && copied.push(one), reportFailure);
        }
        endProgress();
      } catch (error) {
        await reportFailure(error);
      }
    }
    if (flags.json) sayJson({ copied });
    return exitCode;
  });
}

function side(client: Client, text: string): Side {
  const { target, path } = parseTargetPath(text, ".");
  return target === undefined ? { depot: localEndpoint, path } : { depot: targetEndpoint(client, target), path };
}

function inside({ depot, path }: Side, name: string): Side {
  return { depot, path: depot.join(path, name) };
}

function isFolderText(text: string): boolean {
  return /[/:]$/.test(text);
}

/** The name of the copy. `.`, `..`, `~` and `/` have none, so they are refused. */
function nameOf(path: string, text: string): string {
  const name = /[^/]+(?=\/*$)/.exec(path)?.[0] ?? "";
  if (name === "" || name === "." || name === ".." || name === "~")
    throw new Problem(`${text} has no name to copy it under: give a destination that does not exist yet, or name the files in it`);
  return name;
}

/** Lists every file before the first is copied, so that a copy into itself ends. */
async function planJobs(from: Side, to: Side, isRecursive: boolean): Promise<Job[]> {
  const kind = await from.depot.kind(from.path);
  if (kind === null) throw new Problem(`Not found: ${from.depot.text(from.path)}`);
  if (kind === "file") return [{ from, to }];
  if (!isRecursive) throw new Problem(`Is a directory: ${from.depot.text(from.path)}. Add -r to copy it with everything in it`);
  if ((await to.depot.kind(to.path)) === "file")
    throw new Problem(`Not a directory: ${to.depot.text(to.path)}; it cannot be replaced by a directory`);
  return planDirectory(from, to);
}

async function planDirectory(from: Side, to: Side): Promise<Job[]> {
  const { files, directories, others } = await from.depot.list(from.path);
  for (const name of others) note(`gsv: skipped, neither a file nor a directory: ${inside(from, name).path}`);
  const isMade = await to.depot.makeDirectory(to.path);
  if (!isMade && files.length + directories.length + others.length === 0)
    note(`gsv: skipped, because empty directories are not created on a target: ${from.depot.text(from.path)}`);
  const jobs = files.map((name) => ({ from: inside(from, name), to: inside(to, name) }));
  for (const name of directories) jobs.push(...(await planDirectory(inside(from, name), inside(to, name))));
  return jobs;
}

async function copy(client: Client, { from, to }: Job, { clobber }: Flags, progress: Progress): Promise<CopyResult | null> {
  const names = { from: from.depot.text(from.path), to: to.depot.text(to.path) };
  try {
    const present: FileKind = await to.depot.kind(to.path);
    if (present === "directory") throw new Problem(`Is a directory: ${names.to}. It cannot be replaced by a file`);
    if (present !== null && clobber === false) return null;
    const { size } = await transfer(client, from, to, progress);
    return { ...names, size };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(`${names.from} was not copied. ${error.message}`);
  }
}

/** Shows progress on a terminal in one line that is overwritten: the count of many files, the percentage of a large one. */
function progressLine(done: number, all: number, { from }: Job): Progress {
  if (!process.stderr.isTTY) return () => {};
  const count = all < PROGRESS_FILES_MIN ? "" : `${done + 1}/${all} `;
  const name = printable(from.depot.text(from.path));
  const show = (text: string) => process.stderr.write(`${ERASE}${text.slice(0, (process.stderr.columns || 80) - 1)}`);
  if (count !== "") show(count + name);
  let shownAt = 0;
  return (bytes, size) => {
    if (size < PROGRESS_BYTES_MIN || Date.now() - shownAt < PROGRESS_MS) return;
    shownAt = Date.now();
    show(`${count}${Math.floor((bytes / size) * 100)}% of ${humanSize(size)} ${name}`);
  };
}

function endProgress(): void {
  if (process.stderr.isTTY) process.stderr.write(ERASE);
}
