// The digest of exactly what was approved, computed over a canonical form of the call. Two calls have the same digest only if
// they are the same call by the same process in the same place; only the order of keys does not matter.

import { toHex } from "../lib/hex.ts";

export type ExactCall = {
  pid: string;
  uid: number;
  call: string;
  args: Readonly<Record<string, unknown>>;
  /** `gsv`, or the device that the kernel forwards the call to. */
  target: string;
  cwd: string;
};

/** Separates these digests from all others of this system. */
const PURPOSE = "gsv approval 1\n";

export function approvalDigest({ pid, uid, call, args, target, cwd }: ExactCall, sha256: (text: string) => Uint8Array): string {
  return toHex(sha256(PURPOSE + canonicalJson({ pid, uid, call, args, target, cwd })));
}

const DEPTH_MAX = 128;

/**
 * JSON with sorted keys and no whitespace. Throws for values that JSON cannot represent: the digest must cover everything that
 * runs.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > DEPTH_MAX) throw new TypeError("A call that nests too deeply, or contains itself, has no digest");
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number" && Number.isFinite(value)) return Object.is(value, -0) ? "-0" : JSON.stringify(value);
  if (Array.isArray(value)) return `[${Array.from(value, (item: unknown) => canonicalJson(item, depth + 1)).join(",")}]`;
  if (typeof value !== "object" || !isPlainObject(value)) throw new TypeError(`A call that contains a ${kindOf(value)} has no digest`);
  const names = Object.entries(value).filter(([, member]) => member !== undefined);
  const members = names
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member, depth + 1)}`);
  return `{${members.join(",")}}`;
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === null || prototype === Object.prototype) && Object.getOwnPropertySymbols(value).length === 0;
}

function kindOf(value: unknown): string {
  return typeof value === "object" ? (value?.constructor.name ?? "object") : typeof value;
}
