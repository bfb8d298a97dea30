// What a person allows beyond one call: exactly this call again, or more where they chose so. A grant turns a question into a
// yes; it never allows what the policy denies. There is no grant by how a command begins: what follows the beginning, in
// a pipe, a wrapper or another option, is what people did not think of. A `class` grant goes by what tags.ts knows of a call.

import { z } from "zod";
import { isBelow, plainPath } from "./paths.ts";
import type { Decision } from "./policy.ts";
import { isTag, type Judged, type Tag, TAGS } from "./request.ts";
import { visible } from "./visible.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
export const GRANT_MS = DAY_MS;

/** Wider grants end sooner. */
export const SCOPES = {
  exact: { says: "exactly this call", longestMs: 30 * DAY_MS },
  folder: { says: "this call on this target, for anything below the same folder", longestMs: 7 * DAY_MS },
  tool: { says: "this call on this target, with any arguments", longestMs: DAY_MS },
  /** What `remember: true` means without a scope. Nobody can ask for it by name. */
  class: { says: "calls like this one on this target", longestMs: DAY_MS },
} as const;
export type Scope = keyof typeof SCOPES;

/** The scopes that `proc.hil` takes. */
export const NAMED_SCOPES = ["exact", "folder", "tool"] as const satisfies readonly Scope[];

/** What a person wants to be remembered. */
export const Remember = z.strictObject({
  scope: z.enum([...NAMED_SCOPES, "class"], { error: `scope must be one of: ${NAMED_SCOPES.join(", ")}` }).default("exact"),
  ttlMs: z
    .int({ error: "ttlMs must be a whole number of milliseconds" })
    .min(MINUTE_MS, { error: "ttlMs must be at least a minute" })
    .default(GRANT_MS),
});
export type Remember = z.infer<typeof Remember>;

/** Plain data: kept, listed and revoked by whoever owns the table. */
export type Grant = {
  /** One process of one user: neither its children nor its siblings have it. */
  uid: number;
  pid: string;
  call: string;
  target: string;
  scope: Scope;
  /** Of the call it was made for; all that counts for `exact`. */
  digest: string;
  /** For `folder`. */
  folder: string | null;
  /** Of the call it was made for; what `class` goes by. */
  tags: readonly string[];
  madeAt: number;
  expiresAt: number;
  revokedAt: number | null;
};

/** A call that asks, as grants see it. */
export type Asking = { uid: number; pid: string; target: string; digest: string; judged: Judged };

/** The grant a person gives with a yes, or why there can be none. */
export function grantFor(asking: Asking, { scope: wanted, ttlMs }: Remember, now: number): Grant | { error: string } {
  const { uid, pid, target, digest, judged } = asking;
  const { says, longestMs } = SCOPES[wanted];
  if (ttlMs > longestMs) return { error: `A grant for ${says} lasts at most ${lasting(longestMs)}` };
  // Whoever names no scope cannot name a narrower one when they are refused.
  const scope = wanted === "class" && !hasClass(asking) ? "exact" : wanted;
  if (scope !== "exact" && isReserved(judged))
    return { error: "Only exactly this call can be remembered: it is one of those that are asked about each time" };
  const folder = scope === "folder" ? folderOf(judged) : null;
  if (scope === "folder" && folder === null) return { error: "This call names no folder that could be allowed as a whole" };
  const tags = [...judged.tags];
  return { uid, pid, call: judged.call, target, scope, digest, folder, tags, madeAt: now, expiresAt: now + ttlMs, revokedAt: null };
}

export function covers(grant: Grant, asking: Asking, now: number): boolean {
  const { uid, pid, target, digest, judged } = asking;
  if (grant.revokedAt !== null || now >= grant.expiresAt || now < grant.madeAt) return false;
  if (grant.uid !== uid || grant.pid !== pid || grant.target !== target || grant.call !== judged.call) return false;
  if (grant.scope === "exact") return grant.digest === digest;
  if (isReserved(judged)) return false;
  if (grant.scope === "tool") return true;
  if (grant.scope === "class") return hasClass(asking) && isReadable(judged) && addsNothing(judged.tags, grant.tags);
  const path = pathOf(judged);
  return grant.folder !== null && path !== null && path !== grant.folder && isBelow(path, grant.folder);
}

/** A grant answers a question, and nothing else: what is denied stays denied. `by` is the grant that answered it. */
export function settled(decision: Decision, grants: readonly Grant[], asking: Asking, now: number): Decision & { by?: Grant } {
  if (decision.action !== "ask") return decision;
  const covering = grants.filter((grant) => covers(grant, asking, now));
  // One whose giver knew of this very call is worth more.
  const by = covering.find(({ scope }) => scope !== "class") ?? covering[0];
  return by === undefined ? decision : { ...decision, action: "auto", why: describeGrant(by), by };
}

/** What no wide grant is meant to cover: what steers agents and machines, secrets, and rights beyond the user's own. */
function isReserved({ tags }: Judged): boolean {
  return tags.has("policy-bearing") || tags.has("elevates") || tags.has("reads-secret");
}

/**
 * Whether there are calls like it. A call that the gateway carries to machines which only its arguments name, such as a copy, is
 * like no other: what is known of one pair of machines says nothing of the next.
 */
function hasClass({ judged, target }: Asking): boolean {
  return !isReserved(judged) && !(target === "gsv" && judged.target === "device");
}

/** What these say of a call says nothing of the next one. */
const UNREADABLE: readonly Tag[] = ["opaque", "unknown-reads"];

function isReadable({ tags }: Judged): boolean {
  return UNREADABLE.every((tag) => !tags.has(tag));
}

/** No tag that the approved call had not, and every limit that it had. */
function addsNothing(tags: ReadonlySet<string>, approved: readonly string[]): boolean {
  const known = new Set(approved);
  return [...tags].every((tag) => known.has(tag)) && LIMITS.every((tag) => !known.has(tag) || tags.has(tag));
}

/** Tags that say how little a call does: a call without one of them does more, not less. */
const LIMITS: readonly Tag[] = ["in-home", "in-workspace", "scratch", "looks"];

const WITH_PATH = new Set(["fs.read", "fs.search", "fs.write", "fs.edit", "fs.delete", "fs.upload", "fs.download"]);

function pathOf({ call, args, target, ...around }: Judged): string | null {
  return WITH_PATH.has(call) && typeof args.path === "string" ? plainPath(args.path, target, around) : null;
}

/** Not a whole disk, nor all homes, nor a home: that is another wish. */
function folderOf(judged: Judged): string | null {
  const path = pathOf(judged);
  const folder = path?.slice(0, path.lastIndexOf("/"));
  if (folder === undefined || folder === judged.home || WIDE.test(folder)) return null;
  return folder;
}

const WIDE = /^[^/]*$|^\/[^/]+$|^\/(?:home|users)\/[^/]+$|^[A-Za-z]:\/users\/[^/]+$/i;

/** For the person who gives it, and for the list they revoke it from. */
export function describeGrant(grant: Grant): string {
  const { pid, target, expiresAt, madeAt } = grant;
  const time = `for ${lasting(expiresAt - madeAt)}`;
  // The one that everybody talks to has no name of its own.
  const who = pid.startsWith("init:") ? `The personal agent (${pid})` : `Process ${pid}`;
  if (grant.scope === "class") return visible(`${who} may ${alike(grant)} on ${target} without asking, ${time}, ${within(grant)}`);
  return visible(`${who} may ${allowed(grant)} on ${target}, ${time}`);
}

function alike({ call }: Grant): string {
  return call === "shell.exec" ? "run commands" : `do ${call}`;
}

function allowed({ scope, call, folder }: Grant): string {
  if (scope === "exact") return call === "shell.exec" ? "run exactly the command that was shown" : `do exactly the ${call} that was shown`;
  // Nobody can know all that a command does, so nothing is promised of what it does not do.
  if (call === "shell.exec") return "run any command, whatever it does,";
  const what = scope === "folder" ? `of anything below ${folder}` : "with any arguments";
  return `do ${call} ${what}, except where that steers agents or machines or may read secrets,`;
}

/** How far `class` goes, and where it ends. */
function within({ call, tags, target }: Grant): string {
  const holds = (those: readonly string[]): string => those.map((tag) => (isTag(tag) ? TAGS[tag] : tag)).join("; ");
  const limits = tags.filter((tag) => LIMITS.some((limit) => limit === tag));
  const isUnreadable = (tag: string): boolean => UNREADABLE.some((one) => one === tag);
  const others = tags.filter((tag) => !isUnreadable(tag) && !limits.includes(tag));
  const each = call === "shell.exec" ? "each command" : "each call";
  const only = limits.length === 0 ? "" : `${holds(limits)} and `;
  const most = others.length === 0 ? `nothing of note is known of ${each}` : `no more is known of ${each} than this: ${holds(others)}`;
  const further = call !== "shell.exec" ? FURTHER : target === "gsv" ? FURTHER_OF_COMMANDS : [...FURTHER_OF_COMMANDS, ...ON_DEVICES];
  const asks = further.filter((tag) => isUnreadable(tag) || !tags.includes(tag));
  const isItself = tags.some(isUnreadable) ? ", as with the approved one" : "";
  return `as long as ${only}${most}. Anything else is asked about, for instance where ${holds(asks)}${isItself}`;
}

const FURTHER: readonly Tag[] = ["hidden-path", "outside-cwd", "outside-home", "policy-bearing", "reads-secret"];
const FURTHER_OF_COMMANDS: readonly Tag[] = [
  "mutating",
  "deletes",
  "connects",
  "compound",
  "elevates",
  "policy-bearing",
  "reads-secret",
  "opaque",
];
const ON_DEVICES: readonly Tag[] = ["unknown-reads"];

function lasting(ms: number): string {
  const [count, unit] =
    ms % DAY_MS === 0 && ms > DAY_MS
      ? [ms / DAY_MS, "day"]
      : ms >= 60 * MINUTE_MS
        ? [Math.ceil(ms / (60 * MINUTE_MS)), "hour"]
        : [Math.ceil(ms / MINUTE_MS), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
