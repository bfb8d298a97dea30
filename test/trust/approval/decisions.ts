// Answers that must not count as an approval: each is sent while the question is open, and nothing may run.

import { randomUUID } from "node:crypto";

export type Bad = { name: string; args: Record<string, unknown> };

type Known = { requestId: string; pid: string; otherPid: string; usedId: string; foreignId: string; foreignPid: string };

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

export function badDecisions({ requestId, pid, otherPid, usedId, foreignId, foreignPid }: Known): Bad[] {
  const yes = { requestId, decision: "approve" };
  return [
    ...ids(requestId, [usedId, foreignId]).map((id): Bad => ({ name: `requestId ${showValue(id)}`, args: { ...yes, requestId: id } })),
    ...ids(pid, [otherPid, foreignPid]).map((id): Bad => ({ name: `pid ${showValue(id)}`, args: { ...yes, pid: id } })),
    ...DECISIONS.map((decision): Bad => ({ name: `decision ${showValue(decision)}`, args: { requestId, decision } })),
    ...SCOPES.map((scope): Bad => ({ name: `scope ${showValue(scope)}`, args: { ...yes, remember: true, scope } })),
    ...TTLS.map((ttlMs): Bad => ({ name: `ttlMs ${showValue(ttlMs)}`, args: { ...yes, remember: true, ttlMs } })),
    ...TOO_LONG.map(([scope, ttlMs]): Bad => ({ name: `${scope} for ${ttlMs} ms`, args: { ...yes, scope, ttlMs } })),
    ...REMEMBER.map((remember): Bad => ({ name: `remember ${showValue(remember)}`, args: { ...yes, remember } })),
    { name: "nothing", args: {} },
    { name: "no requestId", args: { decision: "approve", remember: true } },
    { name: "no decision", args: { requestId, approved: true, approve: true, allow: true } },
    { name: "the digest instead of the id", args: { decision: "approve", digest: requestId } },
    { name: "wrapped", args: { args: yes } },
    { name: "as a list", args: { requests: [yes] } },
  ];
}

/** Near misses of an id, and ids of others. Spaces around a pid are not among them, since they are trimmed. */
function ids(id: string, others: readonly string[]): unknown[] {
  const swapped = id.replace(/[0-9]/, (digit) => String((Number(digit) + 1) % 10));
  const near = [
    `${id}0`,
    id.slice(0, -1),
    id.slice(1),
    `${id}\0`,
    `\0${id}`,
    `${id}\u200b`,
    `${id}\u202e`,
    `${id}/`,
    `${id}#`,
    `${id}?x`,
    `${id}%00`,
  ];
  const encoded = [
    encodeURIComponent(`${id}/..`),
    Buffer.from(id).toString("base64"),
    id.replaceAll("-", "\u2011") + "\u2011",
    `"${id}"`,
    `'${id}' OR 1=1`,
    `${id};`,
    `*`,
    `%`,
    `_`.repeat(id.length),
  ];
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "null", "undefined", "NaN", "0", "-1", "true", randomUUID()];
  const kinds: unknown[] = [null, 0, 1, true, false, [id], { id }, { toString: id }, [[id]], {}, []];
  return [swapped === id ? `${id}1` : swapped, ...near, ...encoded, ...names, ...others, ...kinds];
}

const DECISIONS: unknown[] = [
  "Approve",
  "APPROVE",
  "approve ",
  " approve",
  "approve\n",
  "approve\0",
  "approved",
  "approv",
  "allow",
  "yes",
  "y",
  "ok",
  "true",
  "1",
  "auto",
  "аpprove",
  "ａpprove",
  "approve​",
  "deny,approve",
  "approve,deny",
  "not deny",
  "",
  "null",
  "always",
  "deny\0approve",
  null,
  true,
  1,
  ["approve"],
  { decision: "approve" },
  ["deny", "approve"],
  {},
  [],
];
const SCOPES: unknown[] = [
  "all",
  "*",
  "TOOL",
  "tool ",
  "Exact",
  "any",
  "__proto__",
  "constructor",
  "",
  "user",
  "everything",
  null,
  true,
  1,
  ["tool"],
  {},
];
const TTLS: unknown[] = [0, -1, 1, 59_999, 1.5, 1e20, -1e20, "60000", "1d", null, true, [DAY_MS], {}, Number.MAX_SAFE_INTEGER];
const TOO_LONG: [string, number][] = [
  ["exact", 30 * DAY_MS + 1],
  ["exact", 365 * DAY_MS],
  ["tool", DAY_MS + 1],
  ["tool", 7 * DAY_MS],
  ["folder", 7 * DAY_MS + 1],
  ["folder", HOUR_MS],
];
const REMEMBER: unknown[] = ["true", 1, "yes", null, {}, [true]];

function showValue(value: unknown): string {
  return JSON.stringify(value);
}
