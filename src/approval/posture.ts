// How a posture changes what a policy decides about a call of an agent: asking before every action, or trusting what cannot do
// harm. It never lifts a deny, nor a question that somebody wrote into a policy of their own. Who has which posture: kernel/agents/postures.ts.

import type { Posture } from "../protocol/process-settings.ts";
import { isPureRead } from "./defaults.ts";
import type { Decision } from "./policy.ts";
import type { JudgedCall, Tag } from "./request.ts";

/** How long `trusted` lasts at most. */
export const TRUSTED_MS = 24 * 60 * 60 * 1000;
export const ASKS_ALWAYS = "You chose to be asked before every action";

/** The calls of a script are judged one by one. */
const SCRIPTS: ReadonlySet<string> = new Set(["codemode.exec", "codemode.run"]);

/**
 * Calls that may run unasked where a person trusts the agent, unless a tag says otherwise. All others ask as before: a call added
 * later does so until somebody decides about it.
 */
const TRUSTED: ReadonlySet<string> = new Set(["shell.exec", "fs.write", "fs.edit", "fs.upload", "fs.copy", "proc.conversation.update"]);

/** What is destroyed, revealed, sent out, gains rights, steers agents, or cannot be known in advance needs a person in any case. */
const NEVER_TRUSTED: readonly Tag[] = [
  "deletes",
  "destructive",
  "reads-secret",
  "connects",
  "network",
  "elevates",
  "privileged",
  "policy-bearing",
  "opaque",
  "unknown-path",
  "unknown-reads",
  "unvetted",
];

/** Where files may be changed on the gateway. Elsewhere are the archives and media of processes, other homes, and the system. */
const TRUSTED_PLACES: readonly Tag[] = ["in-home", "in-workspace", "scratch", "shared"];
/** A file that is sent to a device brings along whether it can be run. */
const SENDING: ReadonlySet<string> = new Set(["fs.copy", "fs.upload"]);

const STRICTNESS: Record<Posture, number> = { trusted: 0, careful: 1, ask: 2 };

export function pickStricterPosture(one: Posture, other: Posture): Posture {
  return STRICTNESS[other] > STRICTNESS[one] ? other : one;
}

/** Applied to the decision of one policy. `isDefault`: the policy nobody wrote. */
export function applyPosture(decision: Decision, posture: Posture, judged: JudgedCall, isDefault: boolean): Decision {
  if (posture === "ask" && decision.action === "auto" && !hasNoEffect(judged)) return { action: "ask", why: ASKS_ALWAYS };
  if (posture === "trusted" && decision.action === "ask" && isDefault && isHarmless(judged))
    return { action: "auto", why: `${judged.call} is allowed (you trust this agent)` };
  return decision;
}

/** A request to a model costs its owner money, even if the call only reads. */
function hasNoEffect({ call, args, tags }: JudgedCall): boolean {
  return SCRIPTS.has(call) || (isPureRead(call) && args.tryModel !== true) || (call === "shell.exec" && tags.has("looks"));
}

function isHarmless({ call, tags }: JudgedCall): boolean {
  if (!TRUSTED.has(call) || NEVER_TRUSTED.some((tag) => tags.has(tag))) return false;
  // Hidden files of a device say what its programs and its login run, and no file system of ours protects them.
  if (tags.has("remote") && tags.has("mutating") && tags.has("hidden-path")) return false;
  if (!call.startsWith("fs.")) return true;
  return tags.has("onto-device") ? !SENDING.has(call) : TRUSTED_PLACES.some((tag) => tags.has(tag));
}
