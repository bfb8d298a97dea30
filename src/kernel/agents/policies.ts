// Which approval policy applies to a process: root's for its profile, its user's, or the default if neither is set. Of several, the
// strictest decides. The policies of the parents apply too, so that an agent gains nothing by starting a child.

import { defaultPolicy } from "../../approval/defaults.ts";
import { Cache } from "../../lib/cache.ts";
import { decide, type Decision, readPolicy, type PolicyResult, pickStricter, denyUnattended } from "../../approval/policy.ts";
import type { JudgedCall } from "../../approval/request.ts";
import type { ReadContext } from "../context.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import { findProfile } from "./profiles.ts";

const ANCESTORS_MAX = 32;
const PARSED_MAX = 64;

export class Policies {
  readonly #reads: Pick<ReadContext, "config" | "processes">;
  readonly #isCall: (name: string) => boolean;
  /** Parsed policies by text: parsing takes longer than deciding. */
  readonly #parsed = new Cache<string, PolicyResult>(PARSED_MAX);

  constructor(reads: Pick<ReadContext, "config" | "processes">, isCall: (name: string) => boolean) {
    this.#reads = reads;
    this.#isCall = isCall;
  }

  decide(process: Pick<ProcessRow, "profile" | "uid" | "parentPid">, judged: JudgedCall): Decision {
    const profiles = new Set([process.profile, ...this.#ancestorProfiles(process.parentPid)]);
    let decision: Decision | null = null;
    for (const profile of profiles) {
      for (const policy of this.listFor(profile, process.uid)) {
        const own = decide(policy, { ...judged, profile });
        const effective = findProfile(profile)?.background === true ? denyUnattended(own) : own;
        decision = decision === null ? effective : pickStricter(decision, effective);
      }
    }
    return decision!;
  }

  /** At least one. */
  listFor(profile: string, uid: number): PolicyResult[] {
    const policies = [policyKey(profile), userPolicyKey(uid, profile)].flatMap((key) => {
      const text = this.#reads.config.get(key);
      return text === undefined || text.trim() === "" ? [] : [this.#parse(text)];
    });
    return policies.length > 0 ? policies : [defaultPolicy(profile)];
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

export function policyKey(profile: string): string {
  return `config/ai/profile/${profile}/tools/approval`;
}

export function userPolicyKey(uid: number, profile: string): string {
  return `users/${uid}/ai/profile/${profile}/tools/approval`;
}
