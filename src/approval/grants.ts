// Grants: what a person allows beyond one call. By default that is exactly this call again; a wider scope must be chosen. A grant
// turns a question into an approval and never allows what the policy denies. There is no grant by a command's prefix: people do
// not foresee what can follow it, such as a pipe, a wrapper or another option. A `class` grant compares the tags of tags.ts.

import { z } from "zod";
import { isBelow, normalizePath } from "./paths.ts";
import type { Decision } from "./policy.ts";
import { placeName, titleQuestion } from "./question-words.ts";
import { isTag, type JudgedCall, MCP_CALL, type Tag, TAGS } from "./request.ts";
import { makeVisible } from "./visible.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
export const GRANT_MS = DAY_MS;

/** Wider grants expire sooner. */
export const SCOPES = {
  exact: { says: "exactly this call", longestMs: 30 * DAY_MS },
  folder: { says: "calls of this kind below the same folder", longestMs: 7 * DAY_MS },
  tool: { says: "all calls of this kind on this target", longestMs: DAY_MS },
  /** The meaning of `remember: true` without a scope. It cannot be requested by name. */
  class: { says: "similar calls on this target", longestMs: DAY_MS },
} as const;
export type Scope = keyof typeof SCOPES;

/** The scopes that `proc.hil` accepts. */
export const NAMED_SCOPES = ["exact", "folder", "tool"] as const satisfies readonly Scope[];

/** What a person asks to be remembered. */
export const RememberOptions = z.strictObject({
  scope: z.enum([...NAMED_SCOPES, "class"], { error: `scope must be one of: ${NAMED_SCOPES.join(", ")}` }).default("exact"),
  ttlMs: z
    .int({ error: "ttlMs must be a whole number of milliseconds" })
    .min(MINUTE_MS, { error: "ttlMs must be at least a minute" })
    .default(GRANT_MS),
});
export type RememberOptions = z.infer<typeof RememberOptions>;

/** Plain data; the owner of the table stores, lists and revokes it. */
export type Grant = {
  /** A grant belongs to one process of one user; its children and siblings do not inherit it. */
  uid: number;
  pid: string;
  call: string;
  target: string;
  scope: Scope;
  /** Digest of the approved call; `exact` compares only this. */
  digest: string;
  /** Set only for the scope `folder`. */
  folder: string | null;
  /** Tags of the approved call; `class` compares these. */
  tags: readonly string[];
  madeAt: number;
  expiresAt: number;
  revokedAt: number | null;
};

/** A call that needs approval, as grants see it. */
export type GrantRequest = { uid: number; pid: string; target: string; digest: string; judged: JudgedCall };

/** Returns the grant that a person gives with an approval, or an error if there can be none. */
export function createGrant(asking: GrantRequest, { scope: wanted, ttlMs }: RememberOptions, now: number): Grant | { error: string } {
  const { uid, pid, target, digest, judged } = asking;
  const { says, longestMs } = SCOPES[wanted];
  if (ttlMs > longestMs) return { error: `A grant for ${says} lasts at most ${describeDuration(longestMs)}` };
  // A caller who names no scope cannot be told to name a narrower one.
  const scope = wanted === "class" && !allowsClassGrant(asking) ? "exact" : wanted;
  if (scope !== "exact" && isExcludedFromWideGrants(judged))
    return { error: "Only exactly this call can be allowed in advance: other calls of this kind need approval each time" };
  const folder = scope === "folder" ? grantableFolderOf(judged) : null;
  if (scope === "folder" && folder === null) return { error: "This call has no folder that can be allowed as a whole" };
  const tags = [...judged.tags];
  return { uid, pid, call: judged.call, target, scope, digest, folder, tags, madeAt: now, expiresAt: now + ttlMs, revokedAt: null };
}

export function grantCovers(grant: Grant, asking: GrantRequest, now: number): boolean {
  const { uid, pid, target, digest, judged } = asking;
  if (grant.revokedAt !== null || now >= grant.expiresAt || now < grant.madeAt) return false;
  if (grant.uid !== uid || grant.pid !== pid || grant.target !== target || grant.call !== judged.call) return false;
  if (grant.scope === "exact") return grant.digest === digest;
  if (isExcludedFromWideGrants(judged)) return false;
  if (grant.scope === "tool") return true;
  if (grant.scope === "class") return allowsClassGrant(asking) && hasKnownEffects(judged) && hasNoWiderTags(judged.tags, grant.tags);
  const path = argumentPathOf(judged);
  return grant.folder !== null && path !== null && path !== grant.folder && isBelow(path, grant.folder);
}

/** A grant only turns `ask` into `auto`; a denied call stays denied. `by` is the grant that covered the call. */
export function applyGrants(decision: Decision, grants: readonly Grant[], asking: GrantRequest, now: number): Decision & { by?: Grant } {
  if (decision.action !== "ask") return decision;
  const covering = grants.filter((grant) => grantCovers(grant, asking, now));
  // A grant whose giver saw this very call comes first.
  const by = covering.find(({ scope }) => scope !== "class") ?? covering[0];
  return by === undefined ? decision : { ...decision, action: "auto", why: describeGrant(by), by };
}

/** Calls that no wide grant covers: those that steer agents or machines, read secrets, or use rights beyond the user's own. */
function isExcludedFromWideGrants({ tags }: JudgedCall): boolean {
  return tags.has("policy-bearing") || tags.has("elevates") || tags.has("reads-secret");
}

/**
 * Whether other calls can be like this one. A call that the gateway forwards to machines named only in its arguments, such as a
 * copy, is like no other: the tags of one pair of machines say nothing about another pair.
 */
function allowsClassGrant({ judged, target }: GrantRequest): boolean {
  return !isExcludedFromWideGrants(judged) && !(target === "gsv" && judged.target === "device");
}

/** A call with one of these tags says nothing about the next call. */
const UNREADABLE: readonly Tag[] = ["opaque", "unknown-reads"];

function hasKnownEffects({ tags }: JudgedCall): boolean {
  return UNREADABLE.every((tag) => !tags.has(tag));
}

/** Whether all tags of the call are among those of the approved call, and none of that call's limiting tags is missing. */
function hasNoWiderTags(tags: ReadonlySet<string>, approved: readonly string[]): boolean {
  const known = new Set(approved);
  return [...tags].every((tag) => known.has(tag)) && LIMITS.every((tag) => !known.has(tag) || tags.has(tag));
}

/** Tags that limit what a call does: a call without one of them may do more. */
const LIMITS: readonly Tag[] = ["in-home", "in-workspace", "scratch", "shared", "looks"];

const WITH_PATH = new Set(["fs.read", "fs.search", "fs.write", "fs.edit", "fs.delete", "fs.upload", "fs.download"]);

function argumentPathOf({ call, args, target, ...around }: JudgedCall): string | null {
  return WITH_PATH.has(call) && typeof args.path === "string" ? normalizePath(args.path, target, around) : null;
}

/** Null for a whole disk, all homes or one home: those are too wide for a folder grant. */
function grantableFolderOf(judged: JudgedCall): string | null {
  const path = argumentPathOf(judged);
  const folder = path?.slice(0, path.lastIndexOf("/"));
  if (folder === undefined || folder === judged.home || TOO_WIDE.test(folder)) return null;
  return folder;
}

const TOO_WIDE = /^[^/]*$|^\/[^/]+$|^\/(?:home|users)\/[^/]+$|^[A-Za-z]:\/users\/[^/]+$/i;

/** What is known of a grant besides the grant itself: the name of the agent, and the arguments of the approved call. */
export type GrantContext = { agent: string; args: Readonly<Record<string, unknown>> };

/**
 * The text for the person who gives the grant, and for the list they revoke it from: "Personal agent may run `uptime` on laptop". It
 * has no time: a client says until when in the person's time zone. Without a context, the text is for the record.
 */
export function describeGrant(grant: Grant, context?: GrantContext): string {
  const who = context === undefined ? `Process ${makeVisible(grant.pid)}` : makeVisible(context.agent);
  const { scope, call, target } = grant;
  const place = placeName(target);
  if (scope === "class") return `${who} may ${describeCallKind(grant)} on ${place} without asking, ${makeVisible(describeLimits(grant))}`;
  if (call === MCP_CALL) return `${who} may call ${makeVisible(target)} ${describeToolArguments(grant)}`;
  if (scope === "exact") return `${who} may ${describeExact(grant, context?.args)}`;
  // Nobody can know everything a command does, so the text promises no exception.
  if (call === "shell.exec") return `${who} may run any command, whatever it does, on ${place}`;
  return `${who} may ${describeWide(grant)}, except where that controls agents or machines or may read secrets`;
}

/** Longer commands are shown below the text. */
const COMMAND_CHARS_MAX = 60;

function describeExact({ call, target }: Grant, args: GrantContext["args"] = {}): string {
  if (call === "shell.exec") {
    const { input, target: _, ...rest } = args;
    const isShort =
      typeof input === "string" && input.length <= COMMAND_CHARS_MAX && !/[\n`]/.test(input) && Object.keys(rest).length === 0;
    return `run ${isShort ? `\`${makeVisible(input)}\`` : "exactly the command that was shown"} on ${placeName(target)}`;
  }
  return `${lowerFirst(titleQuestion({ syscall: call, args, target }))} (exactly as shown)`;
}

function describeWide({ scope, call, target, folder }: Grant): string {
  const place = placeName(target);
  const files = FILE_KINDS[call];
  if (files === undefined) return `${lowerFirst(titleQuestion({ syscall: call, args: {}, target }))}, with any arguments`;
  return scope === "folder" ? `${files} below ${makeVisible(folder ?? "")} on ${place}` : `${files} anywhere on ${place}`;
}

const FILE_KINDS: Readonly<Record<string, string>> = {
  "fs.read": "read files",
  "fs.search": "search files",
  "fs.write": "write files",
  "fs.edit": "edit files",
  "fs.delete": "delete files",
  "fs.upload": "upload files",
  "fs.download": "fetch files",
};

function lowerFirst(title: string): string {
  return `${title.charAt(0).toLowerCase()}${title.slice(1)}`;
}

function describeToolArguments({ scope }: Grant): string {
  return scope === "exact" ? "with exactly the arguments that were shown" : "with any arguments";
}

function describeCallKind({ call, target }: Grant): string {
  return call === "shell.exec" ? "run commands" : (FILE_KINDS[call] ?? lowerFirst(titleQuestion({ syscall: call, args: {}, target })));
}

/** What a `class` grant covers, and what still needs approval. */
function describeLimits({ call, tags, target }: Grant): string {
  const describeTags = (those: readonly string[]): string => those.map((tag) => (isTag(tag) ? TAGS[tag] : tag)).join("; ");
  const limits = tags.filter((tag) => LIMITS.some((limit) => limit === tag));
  const isUnreadable = (tag: string): boolean => UNREADABLE.some((one) => one === tag);
  const others = tags.filter((tag) => !isUnreadable(tag) && !limits.includes(tag));
  const each = call === "shell.exec" ? "each command" : "each call";
  const only = limits.length === 0 ? "" : `${describeTags(limits)} and `;
  const most =
    others.length === 0
      ? `nothing special is known about ${each}`
      : `nothing more is known about ${each} than this: ${describeTags(others)}`;
  const further = call !== "shell.exec" ? FURTHER : target === "gsv" ? FURTHER_OF_COMMANDS : [...FURTHER_OF_COMMANDS, ...ON_DEVICES];
  const asked = further.filter((tag) => isUnreadable(tag) || !tags.includes(tag));
  const exception = tags.some(isUnreadable) ? ", as with the approved one" : "";
  return `as long as ${only}${most}. Anything else needs approval, for example if ${describeTags(asked)}${exception}`;
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
const ON_DEVICES: readonly Tag[] = ["unknown-reads", "unvetted"];

function describeDuration(ms: number): string {
  const [count, unit] =
    ms % DAY_MS === 0 && ms > DAY_MS
      ? [ms / DAY_MS, "day"]
      : ms >= 60 * MINUTE_MS
        ? [Math.ceil(ms / (60 * MINUTE_MS)), "hour"]
        : [Math.ceil(ms / MINUTE_MS), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
