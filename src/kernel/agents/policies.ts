// Which approval policy counts for a process: what root wrote for its profile, what its user wrote, and where nobody wrote
// anything the default. Where both wrote one the stricter decides, and so does the parent's: nobody gains by starting a child.

import { defaultPolicy } from "../../approval/defaults.ts";
import { decide, type Decision, readPolicy, type ReadPolicy, stricter, unattended } from "../../approval/policy.ts";
import type { Judged } from "../../approval/request.ts";
import type { ReadContext } from "../context.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import { profileOf } from "./profiles.ts";

const ANCESTORS_MAX = 32;
const READ_KEPT = 64;

export class Policies {
  readonly #reads: Pick<ReadContext, "config" | "processes">;
  readonly #isCall: (name: string) => boolean;
  /** By their text: reading one takes longer than deciding by it. */
  readonly #read = new Map<string, ReadPolicy>();

  constructor(reads: Pick<ReadContext, "config" | "processes">, isCall: (name: string) => boolean) {
    this.#reads = reads;
    this.#isCall = isCall;
  }

  decide(process: Pick<ProcessRow, "profile" | "uid" | "parentPid">, judged: Judged): Decision {
    const profiles = new Set([process.profile, ...this.#ancestors(process.parentPid)]);
    let decision: Decision | null = null;
    for (const profile of profiles) {
      for (const policy of this.of(profile, process.uid)) {
        const own = decide(policy, { ...judged, profile });
        const attended = profileOf(profile)?.background === true ? unattended(own) : own;
        decision = decision === null ? attended : stricter(decision, attended);
      }
    }
    return decision!;
  }

  /** At least one. */
  of(profile: string, uid: number): ReadPolicy[] {
    const written = [policyKey(profile), userPolicyKey(uid, profile)].flatMap((key) => {
      const text = this.#reads.config.get(key);
      return text === undefined || text.trim() === "" ? [] : [this.#reading(text)];
    });
    return written.length > 0 ? written : [defaultPolicy(profile)];
  }

  #reading(text: string): ReadPolicy {
    const known = this.#read.get(text);
    if (known !== undefined) return known;
    const read = readPolicy(text, this.#isCall);
    if (this.#read.size >= READ_KEPT) this.#read.clear();
    this.#read.set(text, read);
    return read;
  }

  #ancestors(pid: string | null): string[] {
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
