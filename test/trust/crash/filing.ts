// The workload's file calls, lane by lane: new files and overwrites, small and large, edits, deletions of files and of whole
// directories, and reading back. fs.* takes no key, so requests that were cut are not repeated; the files are read instead.

import {
  contentOf,
  contentShown,
  type Document,
  type Edition,
  editionOf,
  editionText,
  headText,
  INLINE_BYTES_MAX,
  markText,
  marksIn,
  newDocument,
  newFolder,
  recognize,
} from "./documents.ts";
import type { Lane } from "./lane.ts";
import type { Op } from "./model.ts";
import type { Random } from "./random.ts";

/** How much one lane may add in one cycle. */
const LANE_QUOTA = { documents: 12, folders: 2, large: 5 };
const SMALLEST = 41;
const LARGEST = 600_000;
/** Directories of documents within their folder. */
const DIRECTORIES = ["", "", "a/", "a/b/", "Ünder € /"];

export class Filing {
  readonly #lane: Lane;
  readonly #random: Random;
  readonly #left = { ...LANE_QUOTA };

  constructor(lane: Lane, random: Random) {
    this.#lane = lane;
    this.#random = random;
  }

  /** Undefined if there is nothing to do right now. */
  next(): Op | undefined {
    const roll = this.#random.next();
    if (roll < 0.25) return this.#create();
    if (roll < 0.5) return this.#change((document) => this.write(document));
    if (roll < 0.7) return this.#change((document) => this.#edit(document));
    if (roll < 0.78) return this.#change((document) => this.#delete(document));
    if (roll < 0.83) return this.#deleteFolder();
    return this.#change((document) => this.#read(document), false);
  }

  write(document: Document, bytes = this.#bytes()): Op {
    const stamp = this.#lane.model.stamp();
    const edition = { head: stamp, mark: stamp, bytes };
    const content = contentOf(edition);
    return this.#put(
      document,
      edition,
      "fs.write",
      { path: document.path, content },
      { path: document.path, size: Buffer.byteLength(content) },
    );
  }

  /** A file that does not exist yet, in one of the lane's directories. */
  document(): Document {
    const lane = this.#lane;
    const random = this.#random;
    const free = lane.folders.filter(({ isBusy }) => !isBusy);
    let folder = random.pick(free);
    if (folder === undefined || (this.#left.folders > 0 && random.chance(0.3))) {
      this.#left.folders--;
      const isInGit = random.chance(0.3);
      folder = newFolder(`${isInGit ? lane.knowledge : lane.home}/d${lane.model.stamp()}`, isInGit);
      lane.folders.push(folder);
    }
    return newDocument(folder, `${random.pick(DIRECTORIES)}f${lane.model.stamp()}.txt`);
  }

  #create(): Op | undefined {
    if (this.#left.documents-- <= 0) return undefined;
    return this.write(this.document());
  }

  /** Picks one of the lane's documents without a change in progress; newer ones more often. */
  #change(make: (document: Document) => Op | undefined, mayBeAbsent = true): Op | undefined {
    const folder = this.#random.pick(this.#lane.folders.slice(-6));
    if (folder === undefined || folder.isBusy) return undefined;
    const document = this.#random.pick(folder.documents.filter(({ isBusy }) => !isBusy));
    if (document === undefined || (!mayBeAbsent && document.register.newest === null)) return undefined;
    return make(document);
  }

  #edit(document: Document): Op | undefined {
    const { newest } = document.register;
    if (newest === null) return undefined;
    const before = editionOf(newest);
    const stamp = this.#lane.model.stamp();
    const { path } = document;
    if (this.#random.chance(0.5)) {
      const args = { path, oldString: headText(before.head), newString: headText(stamp) };
      return this.#put(document, { ...before, head: stamp }, "fs.edit", args, { path, replacements: 1 });
    }
    const mark = stamp;
    const args = { path, oldString: markText(before.mark), newString: markText(mark), replaceAll: true };
    return this.#put(document, { ...before, mark }, "fs.edit", args, { path, replacements: marksIn(before) });
  }

  #delete(document: Document): Op | undefined {
    if (document.register.newest === null) return undefined;
    return this.#put(document, null, "fs.delete", { path: document.path }, { path: document.path });
  }

  /** Everything in it is deleted, or nothing is. */
  #deleteFolder(): Op | undefined {
    const folder = this.#random.pick(this.#lane.folders);
    if (folder === undefined || folder.isBusy || folder.documents.some(({ isBusy }) => isBusy)) return undefined;
    const existing = folder.documents.filter(({ register }) => register.newest !== null);
    if (existing.length === 0) return undefined;
    const versions = existing.map(({ register }) => register.send(() => null));
    folder.isBusy = true;
    for (const document of existing) document.isFresh = true;
    return this.#op(
      "fs.delete",
      { path: folder.path },
      (data) => {
        this.#expect("fs.delete", data, { path: folder.path });
        for (const [at, { register }] of existing.entries()) register.ack(versions[at]!);
        folder.isBusy = false;
      },
      () => {
        for (const [at, { register }] of existing.entries()) register.undo(versions[at]!);
        folder.isBusy = false;
      },
    );
  }

  /** No change of it is in progress, so it must be exactly what was written last. */
  #read(document: Document): Op {
    const { path, register } = document;
    const { newest } = register;
    document.isBusy = true;
    return this.#op(
      "fs.read",
      { path },
      (data) => {
        document.isBusy = false;
        const found = foundIn(data);
        if (found !== newest) this.#lane.model.oracle.violate("wrong", `${path}: wrote ${newest}, read ${found}`);
      },
      () => void (document.isBusy = false),
    );
  }

  #put(document: Document, edition: Edition | null, call: "fs.write" | "fs.edit" | "fs.delete", args: Op["args"], expected: object): Op {
    const { register } = document;
    const version = register.send(() => (edition === null ? null : editionText(edition)));
    document.isBusy = true;
    document.isFresh = true;
    return this.#op(
      call,
      args,
      (data) => {
        this.#expect(call, data, expected);
        register.ack(version);
        document.isBusy = false;
      },
      () => {
        register.undo(version);
        document.isBusy = false;
      },
    );
  }

  #bytes(): number {
    if (this.#left.large <= 0 || this.#random.chance(0.75))
      return this.#random.int(SMALLEST, this.#random.chance(0.2) ? INLINE_BYTES_MAX : 2_000);
    this.#left.large--;
    return this.#random.int(INLINE_BYTES_MAX + 1, this.#random.chance(0.1) ? LARGEST : 2 * INLINE_BYTES_MAX);
  }

  #expect(call: string, data: unknown, expected: object): void {
    const expectedText = JSON.stringify({ ok: true, ...expected });
    if (JSON.stringify(data) !== expectedText)
      this.#lane.model.oracle.violate("wrong", `${call}: ${JSON.stringify(data)}, not ${expectedText}`);
  }

  #op(call: Op["call"], args: Op["args"], acked: (data: unknown) => void, undone: () => void): Op {
    return { call, args, key: undefined, lane: this.#lane.index, answer: null, acked, undone, again() {} };
  }
}

/** The edition in an answer of fs.read; null for absent; a sentence if it is neither. */
export function foundIn(data: unknown): string | null {
  const answer = data as { ok: boolean; error?: string; content?: string; size?: number };
  if (!answer.ok) return answer.error?.startsWith("Not found:") === true ? null : String(answer.error);
  const { content = "", size = -1 } = answer;
  const text = contentShown({ content, size });
  const edition = recognize(text);
  if (edition !== null && Buffer.byteLength(text) === size) return edition;
  return `no edition: ${size} bytes said, ${Buffer.byteLength(text)} shown, which begin ${JSON.stringify(text.slice(0, 60))}`;
}
