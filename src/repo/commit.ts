// Commit and tag objects: text with headers, signatures and a message.

import { fail } from "../lib/sys-error.ts";
import { isOid, type ObjectKind } from "./oid.ts";
import { toBytes, decodeTextLossily } from "./text.ts";

export type Person = { name: string; email: string };

export type Signature = Person & { /** Seconds since the epoch, as in git. */ time: number };

export type Commit = { tree: string; parents: string[]; author: Signature; committer: Signature; message: string };

export type Tag = { target: string; kind: ObjectKind };

/** Commits and tags are written by people, so a megabyte is plenty. */
const TEXT_BYTES_MAX = 1024 * 1024;
const PARENTS_MAX = 1000;

export function parseCommit(bytes: Uint8Array): Commit {
  const text = decodeTextLossily(bytes);
  const lines = headerLines(text, "commit");
  let at = 0;
  const tree = parseOidLine(lines[at++], "tree ") ?? failMalformed("commit", "it names no tree");
  const parents: string[] = [];
  for (;;) {
    const parent = parseOidLine(lines[at], "parent ");
    if (parent === undefined) break;
    parents.push(parent);
    at++;
  }
  const author = parseSignature(lines[at++], "author ") ?? failMalformed("commit", "its author line");
  const committer = parseSignature(lines[at], "committer ") ?? failMalformed("commit", "its committer line");
  return { tree, parents, author, committer, message: text.slice(text.indexOf("\n\n") + 2) };
}

/** Parses and validates a commit from an untrusted peer. */
export function checkCommit(bytes: Uint8Array): Commit {
  checkBytes(bytes, "commit");
  const commit = parseCommit(bytes);
  if (commit.parents.length > PARENTS_MAX) failMalformed("commit", `more than ${PARENTS_MAX} parents`);
  if (new Set(commit.parents).size !== commit.parents.length) failMalformed("commit", "the same parent twice");
  return commit;
}

export function serializeCommit({ tree, parents, author, committer, message }: Commit): Uint8Array {
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${formatSignature(author)}`,
    `committer ${formatSignature(committer)}`,
  ];
  return toBytes(`${lines.join("\n")}\n\n${message}`);
}

/** Parses and validates a tag from an untrusted peer. */
export function parseTag(bytes: Uint8Array): Tag {
  checkBytes(bytes, "tag");
  const lines = headerLines(decodeTextLossily(bytes), "tag");
  const target = parseOidLine(lines[0], "object ") ?? failMalformed("tag", "it names no object");
  const kind = /^type (commit|tree|blob|tag)$/.exec(lines[1] ?? "")?.[1] ?? failMalformed("tag", "it names no type");
  if (!/^tag [^ ~^:?*[\\][^~^:?*[\\]*$/.test(lines[2] ?? "")) failMalformed("tag", "its name");
  // Early versions of git wrote tags without a tagger.
  if (lines[3]?.startsWith("tagger ") && parseSignature(lines[3], "tagger ") === undefined) failMalformed("tag", "its tagger line");
  return { target, kind: kind as ObjectKind };
}

function checkBytes(bytes: Uint8Array, what: string): void {
  if (bytes.length > TEXT_BYTES_MAX) failMalformed(what, "it is too long");
  if (bytes.includes(0)) failMalformed(what, "a NUL");
}

/** The lines before the first empty one. */
function headerLines(text: string, what: string): string[] {
  const end = text.indexOf("\n\n");
  if (end >= 0) return text.slice(0, end).split("\n");
  // The message may be missing, but the last header must be a whole line.
  if (!text.endsWith("\n")) failMalformed(what, "it is cut short");
  return text.slice(0, -1).split("\n");
}

function parseOidLine(line: string | undefined, prefix: string): string | undefined {
  if (line === undefined || !line.startsWith(prefix)) return undefined;
  const oid = line.slice(prefix.length);
  return isOid(oid) ? oid : undefined;
}

function parseSignature(line: string | undefined, prefix: string): Signature | undefined {
  if (line === undefined || !line.startsWith(prefix)) return undefined;
  const match = /^([^<>\n]*)<([^<>\n]*)> (\d{1,15}) [+-]\d{4,6}$/.exec(line.slice(prefix.length));
  return match === null ? undefined : { name: match[1]!.trim(), email: match[2]!, time: Number(match[3]) };
}

function formatSignature({ name, email, time }: Signature): string {
  return `${sanitize(name) || "unknown"} <${sanitize(email)}> ${time} +0000`;
}

/** Removes the characters that would end a name or an address. */
function sanitize(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters in question
  return text.replace(/[\x00-\x1f<>]/g, "").trim();
}

function failMalformed(what: string, why: string): never {
  fail(400, `Bad ${what}: ${why}`);
}
