// Which approval policy applies to a process: root's for its profile, its user's, or the default if neither is set. Of several, the
// strictest decides. The policies of the parents apply too, so that an agent gains nothing by starting a child.

import { defaultPolicy, isNeverAllowed } from "../../approval/defaults.ts";
import { applyPosture } from "../../approval/posture.ts";
import { Cache } from "../../lib/cache.ts";
import { decide, type Decision, readPolicy, type PolicyResult, pickStricter, denyUnattended } from "../../approval/policy.ts";
import type { JudgedCall } from "../../approval/request.ts";
import type { Posture } from "../../protocol/process-settings.ts";
import type { ReadContext } from "../context.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import { findProfile } from "./profiles.ts";

const ANCESTORS_MAX = 32;
const PARSED_MAX = 64;
const NEVER_DECISION: Decision = { action: "deny", why: "Only people may do this, whatever a policy says" };

export class Policies {
  readonly #reads: Pick<ReadContext, "config" | "processes">;
  readonly #isCall: (name: string) => boolean;
  /** Parsed policies by text: parsing takes longer than deciding. */
  readonly #parsed = new Cache<string, PolicyResult>(PARSED_MAX);

  constructor(reads: Pick<ReadContext, "config" | "processes">, isCall: (name: string) => boolean) {
    this.#reads = reads;
    this.#isCall = isCall;
  }

  /** A posture is for processes that a person can watch: it changes nothing for unattended ones. */
  decide(process: Pick<ProcessRow, "profile" | "uid" | "parentPid">, judged: JudgedCall, wanted: Posture = "careful"): Decision {
    const posture = isUnattended(process.profile) ? "careful" : wanted;
    const profiles = new Set([process.profile, ...this.#ancestorProfiles(process.parentPid)]);
    let decision: Decision | null = null;
    for (const profile of profiles) {
      for (const { policy, isDefault } of this.#listFor(profile, process.uid)) {
        const own = applyPosture(decide(policy, { ...judged, profile }), posture, judged, isDefault);
        const effective = isUnattended(profile) ? denyUnattended(own) : own;
        decision = decision === null ? effective : pickStricter(decision, effective);
      }
    }
    return isNeverAllowed(judged.call) ? pickStricter(decision!, NEVER_DECISION) : decision!;
  }

  /** At least one. */
  #listFor(profile: string, uid: number): { policy: PolicyResult; isDefault: boolean }[] {
    const policies = [policyKey(profile), userPolicyKey(uid, profile)].flatMap((key) => {
      const text = this.#reads.config.get(key);
      return text === undefined || text.trim() === "" ? [] : [{ policy: this.#parse(text), isDefault: false }];
    });
    return policies.length > 0 ? policies : [{ policy: defaultPolicy(profile), isDefault: true }];
  }

  #parse(text: string): PolicyResult {
    return this.#parsed.get(text, () => readPolicy(text, this.#isCall));
  }

  #ancestorProfiles(pid: string | null): string[] {
    const profiles: string[] = [];
    let parent = pid === null ? undefined : this.#reads.processes.get(pid);
    while (parent !== undefined && profiles.length < ANCESTORS_MAX) {
      profiles.push(parent.profile);
      parent = parent.parentPid === null ? undefined : this.#reads.processes.get(parent.parentPid);
    }
    return profiles;
  }
}

export function isUnattended(profile: string): boolean {
  return findProfile(profile)?.background === true;
}

export function policyKey(profile: string): string {
  return `config/ai/profile/${profile}/tools/approval`;
}

export function userPolicyKey(uid: number, profile: string): string {
  return `users/${uid}/ai/profile/${profile}/tools/approval`;
}
