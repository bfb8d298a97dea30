// Keys of the configuration that clients write: their form, and who may set which.

import { z } from "zod";
import { fail } from "../lib/sys-error.ts";
import { type Caller, isRoot } from "../protocol/caller.ts";
import { LIMITS } from "../protocol/limits.ts";
import { READ_ONLY, USER_PREFIXES } from "./nouns/config.ts";

const FORM = /^[^\s/\p{Cc}]+(?:\/[^\s/\p{Cc}]+)*$/u;

/** The argument `key` of this call. */
export function makeKeySchema(call: string) {
  const error = `${call} requires a key`;
  return z
    .string({ error })
    .min(1, { error })
    .max(LIMITS.configKeyBytes, { error: `key must be at most ${LIMITS.configKeyBytes} characters` })
    .regex(FORM, { error: "key must be names joined by single slashes" });
}

/** Root sets any key but those that nobody sets; a user their own keys of some kinds. */
export function checkMaySet(caller: Caller, key: string): void {
  if (!isRoot(caller)) checkOwn(caller.uid, key);
  else if (READ_ONLY.has(key)) fail(403, `Permission denied: ${key} is read-only`);
}

/** The user whose setting this is, or null for one of the gateway. */
export function userOfKey(key: string): number | null {
  const uid = /^users\/(\d+)\//.exec(key)?.[1];
  return uid === undefined ? null : Number(uid);
}

function checkOwn(uid: number, key: string): void {
  if (!key.startsWith("users/")) fail(403, `Permission denied: only root can set system config (${key})`);
  const own = `users/${uid}/`;
  if (!key.startsWith(own)) fail(403, `Permission denied: cannot write another user's config (${key})`);
  const below = key.slice(own.length);
  if (USER_PREFIXES.some((prefix) => below.startsWith(prefix))) return;
  fail(403, `Permission denied: key "${below}" is not user-overridable (allowed prefixes: ${USER_PREFIXES.join(", ")})`);
}
