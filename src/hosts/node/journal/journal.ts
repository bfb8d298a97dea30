// One journal makes the batches of all databases durable that live in the gateway's thread: the kernel's and those of processes.
// Everything that was written in a turn of the event loop, to whatever file, becomes one record, written and synced once. So after a
// crash either all of it is there or nothing, and nothing later without everything earlier. Another thread waits for the disk; what
// is written meanwhile becomes the next record. The databases themselves are committed a second later, without a sync: recover.ts
// applies again what they lack. Decision 0017 has the whole argument.

import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { yieldToEventLoop } from "../../../lib/yield.ts";
import { StorageError } from "../../../ports/sql.ts";
import { crashAt, failCommitIfDue, journalBytesMax } from "../faults.ts";
import { makeFolder, syncFolder } from "../folders.ts";
import { decodeSegment, type Entry } from "./record.ts";
import { errcode, SQLITE_FULL } from "../sql-file.ts";
import { isNoSpace, isOutOfHandles } from "../system-errors.ts";
import { journalFolder, listSegments, numberOfSegment, Segment } from "./segment.ts";

/** When databases are committed after a write, and rows of the relaxed lane appended. */
const COMMIT_MS = 1_000;
/** A database that was written to this often is committed at once. */
const UNCOMMITTED_MAX = 5_000;
/** How many databases are committed in one turn of the event loop. A busy one needs a sync before its commit; the turn shares it. */
const COMMITS_PER_TURN = 8;
/** A new segment begins at this size; the old one goes when all databases have what is in it. */
const SEGMENT_BYTES = 8 * 1024 * 1024;

/** A database whose batches the journal makes durable. */
export interface JournaledFile {
  /** Its path below the data directory. */
  readonly name: string;
  /** What the open batch wrote; null if nothing. */
  readonly entry: Entry | null;
  /** Set if the open batch is lost already. */
  readonly failure: StorageError | null;
  readonly isHoldingFrames: boolean;
  /** The open batch wrote nothing, or failed. The returned function tells those who wait. */
  dropBatch(failure: StorageError | null): () => void;
  /** The open batch is written to the journal; the next may begin. */
  startSync(): void;
  /** The batch is on disk. The returned function tells those who wait. */
  endSync(): () => void;
  /** Commits what is in the journal. Returns whether that worked. */
  commitJournaled(): boolean;
  /** Statements in the journal that are not committed yet. */
  readonly uncommitted: number;
  closeDatabase(): void;
}

export class Journal {
  readonly #root: string;
  readonly #folder: string;
  readonly #fatal: (error: unknown) => void;
  #segment: Segment;
  #removing: Promise<void> | null = null;
  /** Files with an open batch. */
  readonly #open = new Set<JournaledFile>();
  /** Files whose batches are written but not synced. */
  #syncing: JournaledFile[] | null = null;
  /** Files with journaled statements that are not committed. */
  readonly #uncommitted = new Set<JournaledFile>();
  /** Files that are no longer used, but could not be committed, by name. */
  readonly #closing = new Map<string, JournaledFile>();
  #isClosed = false;
  #isFlushScheduled = false;
  #syncs = 0;
  #commitTimer: NodeJS.Timeout | undefined;
  /** The segment before the current one, and the files that have not committed everything that is in it. */
  #old: { segment: Segment; unsettled: Set<JournaledFile> } | null = null;

  /** `root` is the data directory. What an earlier run has left in the journal must have been recovered. */
  constructor(root: string, fatal: (error: unknown) => void) {
    this.#root = root;
    this.#folder = journalFolder(root);
    this.#fatal = fatal;
    if (!existsSync(this.#folder)) makeFolder(this.#folder);
    const last = listSegments(this.#folder).at(-1);
    this.#segment = new Segment(this.#folder, last === undefined ? 1 : numberOfSegment(last) + 1, fatal);
  }

  /** A batch of this file has begun. */
  beginBatch(file: JournaledFile): void {
    this.#open.add(file);
  }

  /** Writes all open batches at the end of this turn of the event loop; they end when they are synced. */
  scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setImmediate(() => {
      // The end of a sync schedules the next: what is written meanwhile shares it.
      if (this.#syncing !== null) return;
      this.#isFlushScheduled = false;
      if (this.#write()) this.#segment.sync(this.#makeSyncEnd());
    });
  }

  /** Ends all open batches, and commits the databases, a little later. */
  scheduleCommits(): void {
    this.#commitTimer ??= setTimeout(() => {
      this.#commitTimer = undefined;
      void this.#commitAll();
    }, COMMIT_MS).unref();
  }

  /** Ends all open batches now, and waits for the disk. */
  flush(): void {
    if (this.#syncing !== null) {
      this.#segment.syncNow();
      this.#endSync();
    }
    if (!this.#write()) return;
    this.#segment.syncNow();
    this.#endSync();
  }

  /** The entries of a file after a version, for a database that lost its uncommitted statements. */
  readEntries(name: string, version: number): Entry[] {
    return this.#segments
      .flatMap((segment) => decodeSegment(segment.read()).entries)
      .filter((entry) => entry.file === name && entry.version > version);
  }

  /** How many records were appended, each with a sync. */
  get syncs(): number {
    return this.#syncs;
  }

  /** Whether the file that it appends to is still there under its name. */
  get isInPlace(): boolean {
    return existsSync(this.#segment.path);
  }

  /** The file is committed and closed. */
  forget(file: JournaledFile): void {
    this.#uncommitted.delete(file);
    this.#old?.unsettled.delete(file);
  }

  /** The file is no longer used, but could not be committed: it is closed when that has worked. */
  closeLater(file: JournaledFile): void {
    this.#closing.set(file.name, file);
    this.scheduleCommits();
  }

  /** Call before a file is opened: another one of this name may still lack what only the journal has. Throws if it does. */
  finishClosing(name: string): void {
    const file = this.#closing.get(name);
    if (file !== undefined) this.#commit(file);
    if (this.#closing.has(name)) throw new StorageError(true, `${name} could not be committed`);
  }

  /** Call when all files are closed. What is in the journal stays only if one of them could not be committed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#commitTimer);
    await this.#removing;
    if (this.#uncommitted.size === 0) await this.#remove(this.#segments);
    else for (const segment of this.#segments) segment.close();
  }

  get #segments(): Segment[] {
    return this.#old === null ? [this.#segment] : [this.#old.segment, this.#segment];
  }

  /** Writes all open batches. They fail or succeed together. Returns whether there is something to sync. */
  #write(): boolean {
    const files = [...this.#open];
    this.#open.clear();
    const written = files.filter(({ entry }) => entry !== null);
    const failure = files.find((file) => file.failure !== null)?.failure ?? this.#append(written);
    const dropped = failure === null ? files.filter((file) => !written.includes(file)) : files;
    const notifications = dropped.map((file) => file.dropBatch(failure));
    if (failure === null && written.length > 0) {
      for (const file of written) {
        file.startSync();
        this.#uncommitted.add(file);
      }
      this.#syncing = written;
      this.scheduleCommits();
    }
    for (const notify of notifications) notify();
    return this.#syncing !== null;
  }

  #append(files: readonly JournaledFile[]): StorageError | null {
    if (files.length === 0) return null;
    try {
      crashAt("before-commit");
      failCommitIfDue(files.some(({ isHoldingFrames }) => isHoldingFrames));
      this.#segment.append(files.flatMap(({ entry }) => entry ?? []));
      return null;
    } catch (error) {
      return error instanceof StorageError ? error : new StorageError(errcode(error) === SQLITE_FULL, error);
    }
  }

  /** Nothing happens if somebody could not wait, and has synced it already. */
  #makeSyncEnd(): () => void {
    const syncing = this.#syncing;
    return () => {
      if (this.#syncing === syncing) this.#endSync();
    };
  }

  #endSync(): void {
    const files = this.#syncing!;
    this.#syncing = null;
    this.#syncs++;
    crashAt("after-commit");
    const notifications = files.map((file) => file.endSync());
    for (const notify of notifications) notify();
    for (const file of files) if (file.uncommitted >= UNCOMMITTED_MAX) this.#commit(file);
    if (this.#segment.size > journalBytesMax(SEGMENT_BYTES)) this.#beginSegment();
    if (!this.#isFlushScheduled) return;
    this.#isFlushScheduled = false;
    this.scheduleFlush();
  }

  /** Each commit takes time, so other work may run in between. */
  async #commitAll(): Promise<void> {
    this.flush();
    const due = [...this.#uncommitted];
    for (let at = 0; at < due.length; at += COMMITS_PER_TURN) {
      for (const file of due.slice(at, at + COMMITS_PER_TURN)) this.#commit(file);
      await yieldToEventLoop();
      if (this.#isClosed) return;
    }
    if (this.#uncommitted.size > 0) this.scheduleCommits();
    if (this.#old?.unsettled.size === 0) await this.#removeOld();
  }

  #commit(file: JournaledFile): void {
    if (!this.#uncommitted.has(file)) return;
    // The database must not have what the journal may still lose.
    if (this.#open.has(file) || this.#syncing?.includes(file)) this.flush();
    crashAt("before-lazy-commit");
    if (!file.commitJournaled()) return;
    crashAt("after-lazy-commit");
    this.forget(file);
    if (this.#closing.get(file.name) !== file) return;
    this.#closing.delete(file.name);
    file.closeDatabase();
  }

  #beginSegment(): void {
    if (this.#old !== null) return;
    try {
      const next = new Segment(this.#folder, this.#segment.number + 1, this.#fatal);
      this.#old = { segment: this.#segment, unsettled: new Set(this.#uncommitted) };
      this.#segment = next;
      crashAt("mid-rotation");
      this.scheduleCommits();
    } catch (error) {
      // Without space for another, this one goes on growing until there is none for it either.
      if (!isNoSpace(error) && !isOutOfHandles(error)) this.#fatal(error);
    }
  }

  #removeOld(): Promise<void> {
    this.#removing ??= this.#remove([this.#old!.segment]).then((isRemoved) => {
      if (isRemoved) this.#old = null;
      else this.scheduleCommits();
      this.#removing = null;
    });
    return this.#removing;
  }

  /** Segments go when what is in them is on disk in the databases themselves. A database that was closed has no log any more. */
  async #remove(segments: readonly Segment[]): Promise<boolean> {
    const files = [...new Set(segments.flatMap((segment) => [...segment.files]))].map((file) => join(this.#root, file));
    try {
      for (const file of files) await syncIfExists(`${file}-wal`);
      for (const folder of new Set(files.map((file) => dirname(file)))) syncFolder(folder);
    } catch (error) {
      if (!isOutOfHandles(error)) this.#fatal(error);
      return false;
    }
    crashAt("before-segment-removal");
    for (const segment of segments) segment.remove();
    return true;
  }
}

async function syncIfExists(path: string): Promise<void> {
  const handle = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  try {
    await handle?.datasync();
  } finally {
    await handle?.close();
  }
}
