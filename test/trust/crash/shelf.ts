// Compares the workload's files with what is there: through fs.read after every restart, and in the rows and blobs of a stopped
// gateway. Everything acknowledged is there to the byte, deleted files stay deleted, and a change that was cut is wholly there or
// not at all, including a directory with everything below it.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type Document, type Folder, hashed, INLINE_BYTES_MAX } from "./documents.ts";
import { foundIn } from "./filing.ts";
import type { Lane } from "./lane.ts";
import type { Oracle } from "./oracle.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

const ANSWER = { timeoutMs: 30_000 };
/** How many unchanged documents are read again. */
const READ_AGAIN = 4;

type Found = { document: Document; isListed: boolean; /** Undefined where it was not read. */ edition: string | null | undefined };

/** Call it only while no request is in progress. Throws if the gateway dies meanwhile; a folder is judged as a whole or next time. */
export async function judgeDocuments({ lanes, model: { oracle } }: World, random: Random): Promise<void> {
  await Promise.all(
    lanes.map(async (lane) => {
      const paths = new Set([...(await listFiles(lane, lane.home)), ...(await listFiles(lane, lane.knowledge))]);
      const read = new Set(
        random.sample(
          lane.folders.flatMap(({ documents }) => documents),
          READ_AGAIN,
        ),
      );
      for (const folder of lane.folders) {
        const readings = folder.documents.map(async (document): Promise<Found> => {
          const isListed = paths.has(document.path);
          if (!document.isFresh && !read.has(document)) return { document, isListed, edition: undefined };
          return { document, isListed, edition: foundIn(await lane.line!.call("fs.read", { path: document.path }, ANSWER)) };
        });
        judgeFolder(folder, await Promise.all(readings), oracle);
      }
      const known = new Set(lane.folders.flatMap(({ documents }) => documents.map(({ path }) => path)));
      for (const path of paths) if (!known.has(path)) oracle.violate("wrong", `${path}: nobody wrote it`);
    }),
  );
  await tryOthers(lanes, oracle, random);
}

function judgeFolder(folder: Folder, all: readonly Found[], oracle: Oracle): void {
  if (folder.isBusy) {
    const wereThere = all.filter(({ document }) => document.register.oldest !== null);
    const left = wereThere.filter(({ isListed }) => isListed);
    if (left.length > 0 && left.length < wereThere.length)
      oracle.violate("half", `${folder.path}: being deleted, ${left.length} of ${wereThere.length} files are left`);
  }
  for (const { document, isListed, edition } of all) {
    const { path, register } = document;
    if (edition !== undefined && isListed !== (edition !== null))
      oracle.violate("half", `${path} is ${isListed ? "" : "not "}listed, and reading it gives ${edition}`);
    const expected = register.expected();
    if (edition === undefined) {
      const fits = register.values().some((text) => (text !== null) === isListed);
      if (!fits) oracle.violate(isListed ? "revived" : "lost", `${path}: expected ${expected}, ${isListed ? "" : "not "}listed`);
    } else if (!register.settle(edition)) oracle.violate(kindOf(edition, expected), `${path}: expected ${expected}, found ${edition}`);
    document.isBusy = false;
    document.isFresh = false;
  }
  folder.isBusy = false;
}

function kindOf(edition: string | null, expected: string): "lost" | "half" | "revived" {
  if (edition?.startsWith("no edition") === true) return "half";
  return edition !== null && expected === "absent" ? "revived" : "lost";
}

/** The files below a directory. */
async function listFiles(lane: Lane, path: string): Promise<Set<string>> {
  const answer = await lane.line!.call("fs.read", { path }, ANSWER);
  if (!answer.ok || !("files" in answer)) return new Set();
  const below = await Promise.all(answer.directories.map((name) => listFiles(lane, `${path}/${name}`)));
  return new Set([...answer.files.map((name) => `${path}/${name}`), ...below.flatMap((paths) => [...paths])]);
}

/** Users may not read files in another user's home. */
async function tryOthers(lanes: readonly Lane[], oracle: Oracle, random: Random): Promise<void> {
  for (const lane of lanes.filter(({ person }) => person.uid !== 0)) {
    const document = random.pick(lanes.filter(({ person }) => person.uid !== lane.person.uid).flatMap(({ folders }) => folders))
      ?.documents[0];
    if (document === undefined) continue;
    const answer = await lane.line!.call("fs.read", { path: document.path }, ANSWER);
    if (answer.ok || answer.error !== `Permission denied: ${document.path}`)
      oracle.violate("wrong", `${lane.person.username} may not read ${document.path}: ${JSON.stringify(answer).slice(0, 200)}`);
  }
}

/** A crash may just have happened, so any value in a register's interval is allowed. */
export function checkShelf(database: DatabaseSync, { home, lanes, model: { oracle } }: World): void {
  const rows = new Map(
    database
      .prepare("SELECT path, kind, size, hash FROM files")
      .all()
      .map((row) => [String(row.path), row]),
  );
  checkContents(database, join(home, "blobs"), [...rows.values()], oracle);
  // Files in git have no rows here; files.ts checks the repositories.
  for (const folder of lanes.flatMap(({ folders }) => folders).filter(({ isInGit }) => !isInGit)) {
    for (const { path, register } of folder.documents) {
      const row = rows.get(path);
      const fits = register.values().some((text) => {
        if (text === null || row === undefined) return text === null && row === undefined;
        const { hash, size } = hashed(text);
        return row.kind === "file" && row.hash === hash && row.size === size;
      });
      if (!fits) oracle.violate("lost", `file: ${path}: expected ${register.expected()}, found ${JSON.stringify(row)}`);
    }
    const wereThere = folder.isBusy ? folder.documents.filter(({ register }) => register.oldest !== null) : [];
    const left = wereThere.filter(({ path }) => rows.has(path)).length;
    if (left > 0 && left < wereThere.length) oracle.violate("half", `file: ${folder.path}: ${left} of ${wereThere.length} files are left`);
  }
}

/** Each row's content is stored where its size says and has its hash. Blobs that no row names are allowed, if they are whole. */
function checkContents(database: DatabaseSync, blobs: string, rows: readonly Record<string, unknown>[], oracle: Oracle): void {
  const inline = new Map(
    database
      .prepare("SELECT hash, content FROM file_contents")
      .all()
      .map((row) => [String(row.hash), row.content as Uint8Array]),
  );
  for (const [hash, content] of inline)
    if (sha256(content) !== hash) oracle.violate("damaged", `file: the content under ${hash} has another hash`);
  for (const { path, kind, hash, size } of rows) {
    if (kind !== "file") continue;
    const isLarge = Number(size) > INLINE_BYTES_MAX;
    const blob = join(blobs, `file-${String(hash)}`);
    const found = isLarge ? statSync(blob, { throwIfNoEntry: false })?.size : inline.get(String(hash))?.length;
    if (found === undefined) oracle.violate("lost", `file: the content of ${String(path)} is not there`);
    else if (found !== size) oracle.violate("half", `file: ${String(path)} has ${found} bytes of ${String(size)}`);
  }
  for (const name of existsSync(blobs) ? readdirSync(blobs) : []) {
    // A leftover of a crash: no row can name it.
    if (name.endsWith(".new")) continue;
    const file = join(blobs, name);
    const stamp = `${file} ${statSync(file).mtimeMs}`;
    if (checkedBlobs.has(stamp)) continue;
    if (`file-${sha256(readFileSync(file))}` !== name) oracle.violate("half", `file: blob ${name} has another hash`);
    checkedBlobs.add(stamp);
  }
}

/** Blobs that were checked already. */
const checkedBlobs = new Set<string>();

/** How many files a crash left beside the blobs. */
export function leftovers(home: string): number {
  const blobs = join(home, "blobs");
  return existsSync(blobs) ? readdirSync(blobs).filter((name) => name.endsWith(".new")).length : 0;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
