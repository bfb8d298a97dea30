// What a person allows beyond one call: exactly this call again, or more where they chose so. A grant turns a question into a
// yes; it never allows what the policy denies. There is no grant by how a command begins: what follows the beginning, in
// a pipe, a wrapper or another option, is what people did not think of.

import { z } from "zod";
import { isBelow, plainPath } from "./paths.ts";
import type { Decision } from "./policy.ts";
import type { Judged } from "./request.ts";
import { visible } from "./visible.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
export const GRANT_MS = DAY_MS;

/** Wider grants end sooner. */
export const SCOPES = {
  exact: { says: "exactly this call", longestMs: 30 * DAY_MS },
  folder: { says: "this call on this target, for anything below the same folder", longestMs: 7 * DAY_MS },
  tool: { says: "this call on this target, with any arguments", longestMs: DAY_MS },
} as const;
export type Scope = keyof typeof SCOPES;

/** What `proc.hil` takes beside its decision. */
export const Remember = z.strictObject({
  scope: z.enum(["exact", "folder", "tool"], { error: `scope must be one of: ${Object.keys(SCOPES).join(", ")}` }).default("exact"),
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
  madeAt: number;
  expiresAt: number;
  revokedAt: number | null;
};

/** A call that asks, as grants see it. */
export type Asking = { uid: number; pid: string; target: string; digest: string; judged: Judged };

/** The grant a person gives with a yes, or why there can be none. */
export function grantFor({ uid, pid, target, digest, judged }: Asking, { scope, ttlMs }: Remember, now: number): Grant | { error: string } {
  const { longestMs } = SCOPES[scope];
  if (ttlMs > longestMs) return { error: `A grant for ${SCOPES[scope].says} lasts at most ${lasting(longestMs)}` };
  if (scope !== "exact" && isReserved(judged))
    return { error: "Only exactly this call can be remembered: it is one of those that are asked about each time" };
  const folder = scope === "folder" ? folderOf(judged) : null;
  if (scope === "folder" && folder === null) return { error: "This call names no folder that could be allowed as a whole" };
  return { uid, pid, call: judged.call, target, scope, digest, folder, madeAt: now, expiresAt: now + ttlMs, revokedAt: null };
}

export function covers(grant: Grant, { uid, pid, target, digest, judged }: Asking, now: number): boolean {
  if (grant.revokedAt !== null || now >= grant.expiresAt || now < grant.madeAt) return false;
  if (grant.uid !== uid || grant.pid !== pid || grant.target !== target || grant.call !== judged.call) return false;
  if (grant.scope === "exact") return grant.digest === digest;
  if (isReserved(judged)) return false;
  if (grant.scope === "tool") return true;
  const path = pathOf(judged);
  return grant.folder !== null && path !== null && path !== grant.folder && isBelow(path, grant.folder);
}

/** A grant answers a question, and nothing else: what is denied stays denied. */
export function settled(decision: Decision, grants: readonly Grant[], asking: Asking, now: number): Decision {
  if (decision.action !== "ask") return decision;
  const grant = grants.find((grant) => covers(grant, asking, now));
  return grant === undefined ? decision : { ...decision, action: "auto", why: describeGrant(grant) };
}

/** What no wide grant is meant to cover: what steers agents and machines, and rights beyond the user's own. */
function isReserved({ tags }: Judged): boolean {
  return tags.has("policy-bearing") || tags.has("elevates");
}

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
  return visible(`Process ${pid} may ${allowed(grant)} on ${target}, for ${lasting(expiresAt - madeAt)}`);
}

function allowed({ scope, call, folder }: Grant): string {
  if (scope === "exact") return `do exactly the ${call} that was shown`;
  // Nobody can know all that a command does, so nothing is promised of what it does not do.
  if (call === "shell.exec") return "run any command, whatever it does,";
  const what = scope === "folder" ? `of anything below ${folder}` : "with any arguments";
  return `do ${call} ${what}, except where that steers agents or machines,`;
}

function lasting(ms: number): string {
  const [count, unit] =
    ms % DAY_MS === 0 && ms > DAY_MS
      ? [ms / DAY_MS, "day"]
      : ms >= 60 * MINUTE_MS
        ? [Math.ceil(ms / (60 * MINUTE_MS)), "hour"]
        : [Math.ceil(ms / MINUTE_MS), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
