// The files that the workload writes, and their content. Each content is described by a short text, its edition, which determines
// every byte: half of one edition, or parts of two, match none.

import { createHash } from "node:crypto";
import { Register } from "./register.ts";

export type Document = {
  path: string;
  /** Its edition, or null for absent. */
  register: Register;
  /** A change is in progress. There is one at a time, since a small write may overtake a large one. */
  isBusy: boolean;
  /** Whether it was changed since it was last read back. */
  isFresh: boolean;
};

/** A directory that one lane writes to, and that is deleted as a whole. In git each change of it is a commit. */
export type Folder = { path: string; isInGit: boolean; documents: Document[]; isBusy: boolean };

/** `head` is on the first line, `mark` on every line, so that either can be edited. */
export type Edition = { head: number; mark: number; bytes: number };

/** Larger content is stored in a blob. */
export const INLINE_BYTES_MAX = 64 * 1024;

const DIGITS = 9;
const PAD = "ünïcödé € 😀 ";
const HASHES_KEPT = 5_000;

export function newFolder(path: string, isInGit: boolean): Folder {
  return { path, isInGit, documents: [], isBusy: false };
}

/** Slashes in `inside` are directories in between. */
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

/** Exactly `bytes` bytes, if that is enough for the first line. */
export function contentOf({ head, mark, bytes }: Edition): string {
  const first = `${headText(head)}${markText(mark)} ${digits(bytes)}\n`;
  const line = `${markText(mark)} ${PAD.repeat(6)}\n`;
  const lineBytes = Buffer.byteLength(line);
  const left = Math.max(0, bytes - first.length);
  // The rest is the last line, without a line feed in about half of the cases.
  const rest = left % lineBytes;
  const end = rest > 0 && bytes % 2 === 0 ? `${"-".repeat(rest - 1)}\n` : "-".repeat(rest);
  return first + line.repeat(Math.floor(left / lineBytes)) + end;
}

/** How often the mark occurs: the number of replacements that an edit of all marks must report. */
export function marksIn(edition: Edition): number {
  return contentOf(edition).split(markText(edition.mark)).length - 1;
}

/** The edition with exactly this content, or null. */
export function recognize(content: string): string | null {
  const found = /^head (\d{9});mark (\d{9}); (\d{9})\n/.exec(content);
  if (found === null) return null;
  const edition = { head: Number(found[1]), mark: Number(found[2]), bytes: Number(found[3]) };
  return contentOf(edition) === content ? editionText(edition) : null;
}

/**
 * Restores the content from an answer of fs.read: removes the line numbers, and adds the last line feed, which is not shown, if
 * the size says so.
 */
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
