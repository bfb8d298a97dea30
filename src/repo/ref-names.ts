// Names of refs: git's check-ref-format, and the narrower form that callers may write.

import { fail } from "../lib/sys-error.ts";

const REF_BYTES_MAX = 250;

/** Whether this is a full name under refs/ that git accepts. */
export function isRefName(name: string): boolean {
  if (!name.startsWith("refs/") || name.length > REF_BYTES_MAX) return false;
  // oxlint-disable-next-line no-control-regex -- these are the characters in question
  if (/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|[/.]$/.test(name)) return false;
  const parts = name.split("/");
  if (parts.length < 3 || parts.some((part) => part.startsWith(".") || part.endsWith(".lock"))) return false;
  // Git would read these as an option or as the current branch.
  return !parts[2]!.startsWith("-") && name !== "refs/heads/HEAD" && name !== "refs/heads/@";
}

/** The full name of a branch to write, from `main` or `refs/heads/main`. */
export function toBranchRef(ref: string): string {
  const name = `refs/heads/${ref.replace(/^refs\/heads\//, "")}`;
  if (!/^[A-Za-z0-9._/-]+$/.test(ref) || !isRefName(name)) fail(400, `Invalid ref: ${quote(ref)}`);
  return name;
}

/** Checks a ref to read: a branch, a tag, a full name or a hash. */
export function checkReadRef(ref: string): void {
  // oxlint-disable-next-line no-control-regex -- these are the characters in question
  if (ref === "" || ref.length > REF_BYTES_MAX || ref.includes("..") || /[\x00-\x1f]/.test(ref)) fail(400, `Invalid ref: ${quote(ref)}`);
}

export function shortRefName(name: string): string {
  return name.replace(/^refs\/(heads|tags)\//, "");
}

function quote(ref: string): string {
  return JSON.stringify(ref.slice(0, REF_BYTES_MAX));
}
