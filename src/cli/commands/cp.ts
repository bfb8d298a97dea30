// gsv cp: copies files between this machine and targets, or from target to target. Unlike in the other file commands, a path
// without a target is on this machine and not on the gateway.

import { type Client, CallError } from "../../client/client.ts";
import { localEndpoint, type FileKind, makeTargetEndpoint } from "../files/copy-endpoint.ts";
import { humanSize } from "../../hardware/text.ts";
import { explainDeviceError } from "../device/no-such-device.ts";
import { parseTargetPath } from "../files/target-path.ts";
import { Problem, printError } from "../terminal/problem.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printNote, escapeControls, printJson } from "../terminal/terminal.ts";
import { type Progress, type Side, transfer } from "../files/transfer.ts";

type Flags = Globals & { recursive?: boolean; clobber?: boolean };
type FileCopy = { from: Side; to: Side };
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
    const to = parseSide(client, last);
    const toKind = await to.endpoint.findKind(to.path);
    if (others.length > 1 && toKind !== "directory" && !endsLikeFolder(last))
      throw new Problem(`Not a directory: ${last}. To copy several files into a new directory, add a / at the end`);
    if (toKind === null && endsLikeFolder(last)) await to.endpoint.makeDirectory(to.path);
    const copied: CopyResult[] = [];
    let exitCode = 0;
    const reportFailure = async (error: unknown) => {
      // A file that cannot be copied does not stop the others.
      if (!(error instanceof CallError) && !(error instanceof Problem)) throw error;
      endProgress();
      exitCode = printError(await explainDeviceError(client, error));
    };
    for (const text of others.toReversed()) {
      try {
        const from = parseSide(client, text);
        const target = toKind === "directory" || endsLikeFolder(last) ? makeChildSide(to, requireCopyName(from.path, text)) : to;
        const jobs = await planCopies(from, target, flags.recursive === true);
        for (const [at, job] of jobs.entries()) {
          await copyFile(client, job, flags, makeProgressLine(at, jobs.length, job)).then(
            (one) => one !== null && copied.push(one),
            reportFailure,
          );
        }
        endProgress();
      } catch (error) {
        await reportFailure(error);
      }
    }
    if (flags.json) printJson({ copied });
    return exitCode;
  });
}

function parseSide(client: Client, text: string): Side {
  const { target, path } = parseTargetPath(text, ".");
  return target === undefined ? { endpoint: localEndpoint, path } : { endpoint: makeTargetEndpoint(client, target), path };
}

function makeChildSide({ endpoint, path }: Side, name: string): Side {
  return { endpoint, path: endpoint.join(path, name) };
}

function endsLikeFolder(text: string): boolean {
  return /[/:]$/.test(text);
}

/** The name of the copy. `.`, `..`, `~` and `/` have none, so they are refused. */
function requireCopyName(path: string, text: string): string {
  const name = /[^/]+(?=\/*$)/.exec(path)?.[0] ?? "";
  if (name === "" || name === "." || name === ".." || name === "~")
    throw new Problem(`${text} has no name to copy it under: give a destination that does not exist yet, or name the files in it`);
  return name;
}

/** Lists every file before the first is copied, so that a copy into itself ends. */
async function planCopies(from: Side, to: Side, isRecursive: boolean): Promise<FileCopy[]> {
  const kind = await from.endpoint.findKind(from.path);
  if (kind === null) throw new Problem(`Not found: ${from.endpoint.formatPath(from.path)}`);
  if (kind === "file") return [{ from, to }];
  if (!isRecursive) throw new Problem(`Is a directory: ${from.endpoint.formatPath(from.path)}. Add -r to copy it with everything in it`);
  if ((await to.endpoint.findKind(to.path)) === "file")
    throw new Problem(`Not a directory: ${to.endpoint.formatPath(to.path)}; it cannot be replaced by a directory`);
  return planDirectory(from, to);
}

async function planDirectory(from: Side, to: Side): Promise<FileCopy[]> {
  const { files, directories, others } = await from.endpoint.list(from.path);
  for (const name of others) printNote(`gsv: skipped, neither a file nor a directory: ${makeChildSide(from, name).path}`);
  const isMade = await to.endpoint.makeDirectory(to.path);
  if (!isMade && files.length + directories.length + others.length === 0)
    printNote(`gsv: skipped, because empty directories are not created on a target: ${from.endpoint.formatPath(from.path)}`);
  const jobs = files.map((name) => ({ from: makeChildSide(from, name), to: makeChildSide(to, name) }));
  for (const name of directories) jobs.push(...(await planDirectory(makeChildSide(from, name), makeChildSide(to, name))));
  return jobs;
}

async function copyFile(client: Client, { from, to }: FileCopy, { clobber }: Flags, progress: Progress): Promise<CopyResult | null> {
  const names = { from: from.endpoint.formatPath(from.path), to: to.endpoint.formatPath(to.path) };
  try {
    const present: FileKind = await to.endpoint.findKind(to.path);
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
function makeProgressLine(done: number, all: number, { from }: FileCopy): Progress {
  if (!process.stderr.isTTY) return () => {};
  const count = all < PROGRESS_FILES_MIN ? "" : `${done + 1}/${all} `;
  const name = escapeControls(from.endpoint.formatPath(from.path));
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
