// The files of one folder that a process is told at the start of a run, read as its user. Bounded: no more is read than can
// be told, and of the rest only the names. What cannot be read is left out and said to the log, because a prompt with a gap
// is better than none.

import { FileError, type FileSystem } from "../../hardware/filesystem.ts";
import type { ContextFile } from "../../agent/context/section.ts";

/** What was left out and why. */
export type Say = (what: string, fields: { path: string; files?: number; error?: string }) => void;

/** A folder of more is a mistake, or an agent gone wrong: the rest is not read. */
const FILES_MAX = 200;
/** Read together: what a usual folder holds, in one request. */
const BATCH = 16;
/** The sizes of what is left out are looked up for so many. */
const SIZES_MAX = 20;

export async function contextFiles(files: FileSystem, folder: string, maxBytes: number, say: Say): Promise<ContextFile[]> {
  const names = await namesIn(files, folder, say);
  const end = Math.min(names.length, FILES_MAX);
  const told: ContextFile[] = [];
  let left = maxBytes;
  let unreadable = 0;
  let at = 0;
  for (let isFull = false; at < end && !isFull;) {
    const batch = names.slice(at, Math.min(at + BATCH, end));
    const heads = await headsOf(
      files,
      batch.map((name) => `${folder}/${name}`),
      left + 1,
    );
    for (const [index, name] of batch.entries()) {
      const head = heads[index] ?? null;
      isFull = head !== null && head.length > left;
      if (isFull) break;
      at++;
      if (head === null) unreadable++;
      else told.push({ name, text: new TextDecoder().decode(head) });
      left -= head?.length ?? 0;
    }
  }
  if (unreadable > 0) say("context files cannot be read", { path: folder, files: unreadable });
  return [...told, ...(await unread(files, folder, names.slice(at)))];
}

/** The first bytes of many files, in one request where the file system can do that. */
export async function headsOf(files: FileSystem, paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]> {
  if (paths.length === 0) return [];
  if (files.readHeads !== undefined) return files.readHeads(paths, bytes);
  return Promise.all(paths.map((path) => files.read(path, { start: 0, end: bytes }).catch(() => null)));
}

/** In the order in which they are told. */
async function namesIn(files: FileSystem, folder: string, say: Say): Promise<string[]> {
  const entries = await listed(files, folder, say);
  return entries
    .filter(({ name, kind }) => kind === "file" && name.endsWith(".md"))
    .map(({ name }) => name)
    .toSorted((a, b) => (a < b ? -1 : 1));
}

/** Nothing where there is no such folder. */
export async function listed(files: FileSystem, folder: string, say: Say) {
  try {
    return await files.list(folder);
  } catch (error) {
    if (!(error instanceof FileError && error.code === "ENOENT"))
      say("a folder of context cannot be read", { path: folder, error: String(error) });
    return [];
  }
}

async function unread(files: FileSystem, folder: string, names: readonly string[]): Promise<ContextFile[]> {
  return Promise.all(
    names.map(async (name, at) => {
      const stat = at < SIZES_MAX ? await files.stat(`${folder}/${name}`).catch(() => null) : null;
      return { name, text: "", leftOut: stat?.size ?? null };
    }),
  );
}
