// The files of one folder that go into the context of a run, read as the process's user. Bounded: reads no more than fits, and lists
// only the names of the rest. Unreadable files are skipped and logged, because a prompt with a gap is better than none.

import { FileError, type FileSystem } from "../../hardware/filesystem.ts";
import type { ContextFile } from "../../agent/context/section.ts";

/** Logs what was skipped and why. */
export type Warn = (what: string, fields: { path: string; files?: number; error?: string }) => void;

/** A folder with more files is a mistake or the work of a faulty agent: the rest is not read. */
const FILES_MAX = 200;
/** Files per request: enough for a usual folder. */
const BATCH = 16;
/** The sizes of this many skipped files are looked up. */
const SIZES_MAX = 20;

export async function readContextFiles(files: FileSystem, folder: string, maxBytes: number, say: Warn): Promise<ContextFile[]> {
  const names = await listNames(files, folder, say);
  const end = Math.min(names.length, FILES_MAX);
  const included: ContextFile[] = [];
  let bytesLeft = maxBytes;
  let unreadable = 0;
  let at = 0;
  for (let isFull = false; at < end && !isFull;) {
    const batch = names.slice(at, Math.min(at + BATCH, end));
    const heads = await readFirstBytes(
      files,
      batch.map((name) => `${folder}/${name}`),
      bytesLeft + 1,
    );
    for (const [index, name] of batch.entries()) {
      const head = heads[index] ?? null;
      isFull = head !== null && head.length > bytesLeft;
      if (isFull) break;
      at++;
      if (head === null) unreadable++;
      else included.push({ name, text: new TextDecoder().decode(head) });
      bytesLeft -= head?.length ?? 0;
    }
  }
  if (unreadable > 0) say("context files cannot be read", { path: folder, files: unreadable });
  return [...included, ...(await describeSkipped(files, folder, names.slice(at)))];
}

/** The first bytes of many files, in one request if the file system supports it. */
export async function readFirstBytes(files: FileSystem, paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]> {
  if (paths.length === 0) return [];
  if (files.readFirstBytes !== undefined) return files.readFirstBytes(paths, bytes);
  return Promise.all(paths.map((path) => files.read(path, { start: 0, end: bytes }).catch(() => null)));
}

/** In the order in which they appear in the context. */
async function listNames(files: FileSystem, folder: string, say: Warn): Promise<string[]> {
  const entries = await listFolder(files, folder, say);
  return entries
    .filter(({ name, kind }) => kind === "file" && name.endsWith(".md"))
    .map(({ name }) => name)
    .toSorted((a, b) => (a < b ? -1 : 1));
}

/** Empty if the folder does not exist or cannot be read. */
export async function listFolder(files: FileSystem, folder: string, say: Warn) {
  try {
    return await files.list(folder);
  } catch (error) {
    if (!(error instanceof FileError && error.code === "ENOENT"))
      say("a context folder cannot be read", { path: folder, error: String(error) });
    return [];
  }
}

async function describeSkipped(files: FileSystem, folder: string, names: readonly string[]): Promise<ContextFile[]> {
  return Promise.all(
    names.map(async (name, at) => {
      const stat = at < SIZES_MAX ? await files.stat(`${folder}/${name}`).catch(() => null) : null;
      return { name, text: "", leftOut: stat?.size ?? null };
    }),
  );
}
