// Tree objects: their entries, git's sort order, and validation.

import { fail } from "../lib/sys-error.ts";
import { linkFault, nameFault } from "./names.ts";
import { readOid, writeOid } from "./oid.ts";
import { decodeText, toBytes } from "./text.ts";

export const MODE = { tree: "40000", file: "100644", executable: "100755", link: "120000" } as const;

/** Old versions of git wrote 100664; many histories still contain it. */
const MODES: ReadonlySet<string> = new Set([...Object.values(MODE), "100664"]);
const GITLINK = "160000";
const MODE_CHARS_MAX = 6;

export type TreeEntry = { mode: string; name: string; oid: string };

export function isTree(entry: { mode: string }): boolean {
  return entry.mode === MODE.tree;
}

export function parseTree(bytes: Uint8Array, entriesMax: number = Number.POSITIVE_INFINITY): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, at);
    if (space < 0 || space - at > MODE_CHARS_MAX || end < space || end + 21 > bytes.length) failMalformed("it is cut short");
    let mode = "";
    for (let i = at; i < space; i++) mode += String.fromCharCode(bytes[i]!);
    const name = decodeText(bytes.subarray(space + 1, end)) ?? failMalformed("a name that is not UTF-8");
    if (entries.length === entriesMax) fail(413, `Bad tree: more than ${entriesMax} entries`);
    entries.push({ mode, name, oid: readOid(bytes, end + 1) });
    at = end + 21;
  }
  return entries;
}

/** Finds one entry without parsing the others: a directory may be large, and lookups are frequent. */
export function findEntry(bytes: Uint8Array, name: string): TreeEntry | undefined {
  const wanted = toBytes(name);
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space < 0 || end < 0) return undefined;
    if (end - space - 1 === wanted.length && wanted.every((byte, i) => bytes[space + 1 + i] === byte))
      return parseTree(bytes.subarray(at, end + 21))[0];
    at = end + 21;
  }
  return undefined;
}

/** Validates a tree from an untrusted peer: fails on what git fsck would call an error, and on what we do not store. */
export function checkTree(bytes: Uint8Array, entriesMax: number): TreeEntry[] {
  const entries = parseTree(bytes, entriesMax);
  const names = new Set<string>();
  let previous: TreeEntry | undefined;
  for (const entry of entries) {
    if (entry.mode === GITLINK) failMalformed(`submodules are not supported (${entry.name})`);
    if (!MODES.has(entry.mode)) failMalformed(`the mode ${JSON.stringify(entry.mode)}`);
    const fault = nameFault(entry.name) ?? (entry.mode === MODE.link ? linkFault(entry.name) : undefined);
    if (fault !== undefined) failMalformed(fault);
    if (names.has(entry.name)) failMalformed("two entries with the same name");
    names.add(entry.name);
    if (previous !== undefined && compareEntries(previous, entry) >= 0) failMalformed("its entries are out of order");
    previous = entry;
    if (/^0+$/.test(entry.oid)) failMalformed("an entry that points nowhere");
  }
  return entries;
}

export function serializeTree(entries: readonly TreeEntry[]): Uint8Array {
  // Entries of an edited tree are usually still in order, so checking first is cheaper than always sorting.
  const isSorted = entries.every((entry, i) => i === 0 || compareEntries(entries[i - 1]!, entry) < 0);
  const sorted = isSorted ? entries : entries.toSorted(compareEntries);
  const heads = sorted.map((entry) => toBytes(`${entry.mode} ${entry.name}\0`));
  const bytes = new Uint8Array(heads.reduce((sum, head) => sum + head.length + 20, 0));
  let at = 0;
  for (const [i, head] of heads.entries()) {
    bytes.set(head, at);
    writeOid(sorted[i]!.oid, bytes, at + head.length);
    at += head.length + 20;
  }
  return bytes;
}

/** Compares by bytes, a directory as if its name ended in a slash. */
export function compareEntries(a: TreeEntry, b: TreeEntry): number {
  return compareText(isTree(a) ? `${a.name}/` : a.name, isTree(b) ? `${b.name}/` : b.name);
}

/** Compares in the order of UTF-8 bytes, which differs from that of JavaScript's code units. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? utf8SortKey(x) - utf8SortKey(y) : x - y;
  }
  return a.length - b.length;
}

function utf8SortKey(unit: number): number {
  return unit >= 0xe000 ? unit - 0x2000 : unit + 0x2000;
}

function failMalformed(what: string): never {
  fail(400, `Bad tree: ${what}`);
}
