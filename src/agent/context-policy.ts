// The context policy of a conversation: when it is compacted, and how many of the last messages stay.

import type { ContextPolicy } from "../protocol/proc-records.ts";

/** The policy of a conversation for which none was set. */
export function defaultPolicy(conversationId: string): ContextPolicy {
  return { conversationId, overflow: "manual", compactAtPressure: 0.9, keepLast: 80, updatedAt: 0 };
}

/** What is wrong with a policy, or null. */
export function policyProblem({ compactAtPressure, keepLast }: Pick<ContextPolicy, "compactAtPressure" | "keepLast">): string | null {
  if (!(compactAtPressure > 0 && compactAtPressure <= 1)) return "compactAtPressure must be greater than 0 and at most 1";
  if (!Number.isSafeInteger(keepLast) || keepLast < 0) return "keepLast must be a non-negative integer";
  return null;
}
