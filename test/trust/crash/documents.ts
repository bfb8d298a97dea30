// The files the workload writes, and what is in them. What a file holds is told by a short text, its edition, from which
// every byte follows: half of one edition, or parts of two, are the content of none.

import { createHash } from "node:crypto";
import { Register } from "./register.ts";

export type Document = {
  path: string;
  /** Its edition, or null for absent. */
  register: Register;
  /** A change is under way. There is one at a time: a large file may be overtaken by a small one. */
  isBusy: boolean;
  /** Changed since it was last read back. */
  isFresh: boolean;
};

/** A directory that one lane writes to, and that is deleted as a whole. In git, each change of it is a commit. */
export type Folder = { path: string; isInGit: boolean; documents: Document[]; isBusy: boolean };

/** `head` is on the first line, `mark` on every line, so that either can be edited. */
export type Edition = { head: number; mark: number; bytes: number };

/** Content above this lies in a blob. */
export const INLINE_BYTES_MAX = 64 * 1024;

const DIGITS = 9;
const PAD = "ünïcödé € 😀 ";
const HASHES_KEPT = 5_000;

export function newFolder(path: string, isInGit: boolean): Folder {
  return { path, isInGit, documents: [], isBusy: false };
}

/** Where `inside` has slashes, directories lie in between. */
export function newDocument(folder: Folder, inside: string): Document {
  const path = `${folder.path}/${inside}`;
  const document = { path, register: new Register(`file ${path}`, null), isBusy: false, isFresh: false };
  folder.documents.push(document);
  return document;
}

export function editionText({ head, mark, bytes }: Edition): string {
  return `${head} ${mark} ${bytes}`;
}

export function editionOf(text: string): Edition {
  const [head = 0, mark = 0, bytes = 0] = text.split(" ").map(Number);
  return { head, mark, bytes };
}

export const headText = (head: number): string => `head ${digits(head)};`;
export const markText = (mark: number): string => `mark ${digits(mark)};`;

/** Exactly so many bytes where that is enough for the first line. */
export function contentOf({ head, mark, bytes }: Edition): string {
  const first = `${headText(head)}${markText(mark)} ${digits(bytes)}\n`;
  const line = `${markText(mark)} ${PAD.repeat(6)}\n`;
  const lineBytes = Buffer.byteLength(line);
  const left = Math.max(0, bytes - first.length);
  // What is left over is the last line, without a line feed in about half of the cases.
  const rest = left % lineBytes;
  const end = rest > 0 && bytes % 2 === 0 ? `${"-".repeat(rest - 1)}\n` : "-".repeat(rest);
  return first + line.repeat(Math.floor(left / lineBytes)) + end;
}

/** How often the mark occurs: what an edit of all of them must say. */
export function marksIn(edition: Edition): number {
  return contentOf(edition).split(markText(edition.mark)).length - 1;
}

/** The edition whose content this is, byte for byte; null where it is that of none. */
export function recognize(content: string): string | null {
  const found = /^head (\d{9});mark (\d{9}); (\d{9})\n/.exec(content);
  if (found === null) return null;
  const edition = { head: Number(found[1]), mark: Number(found[2]), bytes: Number(found[3]) };
  return contentOf(edition) === content ? editionText(edition) : null;
}

/** From what fs.read shows: numbers off the lines, and the last line feed, which it does not show, by the size. */
export function contentShown({ content, size }: { content: string; size: number }): string {
  const text = content
    .split("\n")
    .map((line) => line.slice(line.indexOf("\t") + 1))
    .join("\n");
  return Buffer.byteLength(text) + 1 === size ? `${text}\n` : text;
}

export type Content = { hash: string; size: number };

export function hashed(text: string): Content {
  const known = hashes.get(text);
  if (known !== undefined) return known;
  const bytes = Buffer.from(contentOf(editionOf(text)));
  const content = { hash: createHash("sha256").update(bytes).digest("hex"), size: bytes.length };
  if (hashes.size > HASHES_KEPT) hashes.clear();
  hashes.set(text, content);
  return content;
}

const hashes = new Map<string, Content>();

function digits(number: number): string {
  return String(number).padStart(DIGITS, "0");
}
