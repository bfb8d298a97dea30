// Approval policies: which calls of an agent run without approval (auto), which need a person's approval (ask), and which never
// run (deny). A policy that cannot be read completely denies everything and says why: nobody wants half a policy.

import { z } from "zod";
import { isTag, type JudgedCall, type Tag, TAGS } from "./request.ts";

export const Action = z.enum(["auto", "ask", "deny"], { error: 'must be "auto", "ask" or "deny"' });
export type Action = z.infer<typeof Action>;

const RULES_MAX = 500;
const TEXT_CHARS_MAX = 256 * 1024;
/** One call, or a family: a prefix and every name below it. */
const MATCH = /^[a-z][a-z0-9]*(?:\.[a-z][A-Za-z0-9_-]*)*\.(?:[a-z][A-Za-z0-9_-]*|\*)$/;

const Text = z.string({ error: "must be a string" }).min(1, { error: "must not be empty" }).max(4096);
const Tags = z
  .array(z.custom<Tag>((value) => typeof value === "string" && isTag(value), { error: `must be one of ${Object.keys(TAGS).join(", ")}` }))
  .min(1, { error: "must name at least one tag" });
const Scalar = z.union([z.string(), z.number(), z.boolean()], { error: "must be a string, a number, true or false" });
const argumentRecord = <V extends z.ZodType>(value: V) =>
  z.record(Text, value).refine((names) => Object.keys(names).length > 0, { error: "must name at least one argument" });

const When = z
  .strictObject({
    profile: Text.optional(),
    anyProfile: z.array(Text).min(1, { error: "must name at least one profile" }).optional(),
    target: z.enum(["gsv", "device"], { error: 'must be "gsv" or "device"' }).optional(),
    device: Text.optional(),
    anyTag: Tags.optional(),
    allTags: Tags.optional(),
    argEquals: argumentRecord(Scalar).optional(),
    argPrefix: argumentRecord(Text).optional(),
  })
  .refine((when) => Object.keys(when).length > 0, { error: "must contain a condition; omit when for a rule without one" });

const Rule = z.strictObject({
  match: z.string({ error: "must be the name of a call" }).max(128).regex(MATCH, {
    error: "must be the name of a call such as fs.delete, or a family such as fs.*; default covers everything else",
  }),
  action: Action,
  when: When.optional(),
});
export type Rule = z.infer<typeof Rule>;
type When = z.infer<typeof When>;

const Policy = z.strictObject({
  default: Action,
  rules: z
    .array(Rule, { error: "must be a list of rules, which may be empty" })
    .max(RULES_MAX, { error: `must be at most ${RULES_MAX} rules` }),
});
export type Policy = z.infer<typeof Policy>;

export type PolicyResult = { ok: true; policy: Policy } | { ok: false; reason: string };

/**
 * Reads a policy from its text. `isCall` finds names of calls that do not exist, such as a misspelt rule that was meant to deny.
 */
export function readPolicy(text: string, isCall?: (name: string) => boolean): PolicyResult {
  if (text.length > TEXT_CHARS_MAX) return makeUnreadablePolicyResult(`it is longer than ${TEXT_CHARS_MAX} characters`);
  try {
    return checkPolicy(JSON.parse(text), isCall);
  } catch {
    return makeUnreadablePolicyResult("it is not valid JSON");
  }
}

export function checkPolicy(value: unknown, isCall?: (name: string) => boolean): PolicyResult {
  const parsed = Policy.safeParse(value);
  if (!parsed.success) return makeUnreadablePolicyResult(parsed.error.issues.slice(0, 3).map(describeIssue).join("; "));
  const unknownRule = isCall && parsed.data.rules.findIndex(({ match }) => !match.endsWith(".*") && !isCall(match));
  if (unknownRule !== undefined && unknownRule >= 0)
    return makeUnreadablePolicyResult(`rules.${unknownRule}.match: there is no call ${parsed.data.rules[unknownRule]!.match}`);
  return { ok: true, policy: parsed.data };
}

function makeUnreadablePolicyResult(what: string): PolicyResult {
  return { ok: false, reason: `The approval policy cannot be read: ${what}. Nothing is allowed until it is fixed.` };
}

function describeIssue({ path, message, code, ...issue }: z.core.$ZodIssue): string {
  const at = path.length === 0 ? "the policy" : path.join(".");
  if (code === "unrecognized_keys") return `${at}: unknown ${(issue as { keys: string[] }).keys.join(", ")}`;
  return `${at}: ${message}`;
}

export type Decision = {
  action: Action;
  /** The reason, for people and for the model. */
  why: string;
  /** The index of the rule that decided. */
  rule?: number;
};

/** Exact names come before families, each in the order of the policy; the first rule whose conditions hold decides. */
export function decide(read: PolicyResult, request: JudgedCall): Decision {
  if (!read.ok) return { action: "deny", why: read.reason };
  const { rules } = read.policy;
  const exact = rules.findIndex((rule) => rule.match === request.call && ruleApplies(rule, request));
  const rule = exact >= 0 ? exact : rules.findIndex((rule) => isFamilyOf(rule.match, request.call) && ruleApplies(rule, request));
  if (rule < 0) return { action: read.policy.default, why: VERDICTS[read.policy.default](request.call, " (no rule matches)") };
  const { action, match, when } = rules[rule]!;
  return { action, why: VERDICTS[action](`${match}${targetSuffix(when, request)}`, reasonSuffix(when, request)), rule };
}

const VERDICTS: Record<Action, (subject: string, reason: string) => string> = {
  auto: (subject, reason) => `${subject} is allowed${reason}`,
  ask: (subject, reason) => `Approval required: ${subject}${reason}`,
  deny: (subject, reason) => `${subject} is not allowed${reason}`,
};

function targetSuffix(when: When | undefined, { target }: JudgedCall): string {
  if (when?.device !== undefined) return ` on ${when.device}`;
  return when?.target === undefined ? "" : target === "device" ? " on a device" : " on gsv";
}

function reasonSuffix(when: When | undefined, { tags }: JudgedCall): string {
  const met = [...(when?.anyTag ?? []), ...(when?.allTags ?? [])].filter((tag) => tags.has(tag));
  const reasons = met.map((tag) => TAGS[tag]);
  return reasons.length === 0 ? "" : ` (${[...new Set(reasons)].join(", ")})`;
}

const STRICTNESS: Record<Action, number> = { auto: 0, ask: 1, deny: 2 };

/**
 * The stricter of two decisions about one call, such as those of a process and its parent: a process gains nothing by starting a
 * child.
 */
export function pickStricter(one: Decision, other: Decision): Decision {
  return STRICTNESS[other.action] > STRICTNESS[one.action] ? other : one;
}

/** Where nobody can be asked, a call that needs approval does not run. */
export function denyUnattended(decision: Decision): Decision {
  return decision.action === "ask"
    ? { ...decision, action: "deny", why: `${decision.why}, and nobody is available to approve it` }
    : decision;
}

function isFamilyOf(match: string, call: string): boolean {
  return match.endsWith(".*") && (call === match.slice(0, -2) || call.startsWith(match.slice(0, -1)));
}

function ruleApplies({ when, action }: Rule, request: JudgedCall): boolean {
  if (when === undefined) return true;
  const { tags, profile, target } = request;
  return (
    (when.profile === undefined || when.profile === profile) &&
    (when.anyProfile === undefined || when.anyProfile.includes(profile)) &&
    (when.target === undefined || when.target === target) &&
    (when.device === undefined || matchesDevice(request, when.device, action)) &&
    (when.anyTag === undefined || when.anyTag.some((tag) => tags.has(tag))) &&
    (when.allTags === undefined || when.allTags.every((tag) => tags.has(tag))) &&
    Object.entries(when.argEquals ?? {}).every(([name, value]) =>
      matchesArg(request, name, value, action, (arg, wanted) => arg === wanted),
    ) &&
    Object.entries(when.argPrefix ?? {}).every(([name, value]) =>
      matchesArg(request, name, value, action, makePrefixTest(request, name, action)),
    )
  );
}

/** A rule that allows must know every device that the call reaches. A rule that asks or denies applies if one of them may be meant. */
function matchesDevice({ target, devices }: JudgedCall, name: string, action: Action): boolean {
  if (action === "auto") return devices !== undefined && devices.length > 0 && devices.every((device) => device === name);
  return devices === undefined ? target === "device" : devices.includes(name);
}

/**
 * A path can be spelled in many ways. A rule that allows must match both the text and the resolved path. A rule that asks or
 * denies applies if either matches, or if only the target can resolve the path.
 */
function matchesArg(
  { args, normalizePath }: JudgedCall,
  name: string,
  wanted: string | number | boolean,
  action: Action,
  fits: (arg: unknown, wanted: unknown) => boolean,
): boolean {
  const arg = Object.hasOwn(args, name) ? args[name] : undefined;
  const asWritten = fits(arg, wanted);
  if (!PATHS.has(name) || typeof arg !== "string" || typeof wanted !== "string") return asWritten;
  const [argPath, wantedPath] = [normalizePath(arg), normalizePath(wanted)];
  if (action === "auto") return asWritten && argPath !== null && wantedPath !== null && fits(argPath, keepSlash(wantedPath, wanted));
  return asWritten || argPath === null || wantedPath === null || fits(argPath, keepSlash(wantedPath, wanted));
}

const PATHS = new Set(["path", "cwd"]);

/** A slash at the end of a prefix restricts it to what is below. */
function keepSlash(plain: string, written: string): string {
  return written.endsWith("/") && plain !== "/" ? `${plain}/` : plain;
}

/** The start of a command says nothing about the rest, so a rule that allows by prefix covers only one plain command. */
function makePrefixTest({ call, tags }: JudgedCall, name: string, action: Action): (arg: unknown, wanted: unknown) => boolean {
  const isUnsure = call === "shell.exec" && name === "input" && action === "auto" && (tags.has("compound") || tags.has("opaque"));
  return (arg, wanted) => typeof arg === "string" && !isUnsure && arg.startsWith(String(wanted));
}
