// The quota check of sys.doctor: users see their own quota, root sees the users who have nearly used up theirs.

import { formatByteSize } from "../../lib/byte-size.ts";
import { isRoot } from "../../protocol/caller.ts";
import type { Check } from "../../protocol/check.ts";
import type { ReadContext } from "../context.ts";
import { type Quota, USER_QUOTAS_KEY } from "../files/quotas.ts";

const NEARLY_USED_UP = 0.9;
/** How many users are listed by name. */
const NAMED_MAX = 5;

export function checkQuota({ quotas }: Pick<ReadContext, "quotas">, caller: { uid: number }): Check {
  const check = { id: "quota", title: "Quotas" };
  if (!isRoot(caller)) {
    const own = quotas.get(caller.uid);
    const says = `You store ${describeQuota(own)}.`;
    if (!isNearlyUsedUp(own)) return { ...check, state: "ok", says, next: null };
    return { ...check, state: "warn", says, next: `Delete files, or ask root to raise ${USER_QUOTAS_KEY}/${caller.uid}.` };
  }
  const nearly = quotas.list().filter(isNearlyUsedUp);
  if (nearly.length === 0) return { ...check, state: "ok", says: "No user is close to their quota.", next: null };
  const more = nearly.length - NAMED_MAX;
  const named = nearly.slice(0, NAMED_MAX).map((one) => `${one.username} (${describeQuota(one)})`);
  return {
    ...check,
    state: "warn",
    says: `Close to their quota: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`,
    next: `Ask them to delete files, or raise ${USER_QUOTAS_KEY}/${nearly[0]!.uid}.`,
  };
}

function isNearlyUsedUp({ usedBytes, limitBytes }: Quota): boolean {
  return usedBytes > NEARLY_USED_UP * limitBytes;
}

function describeQuota({ usedBytes, limitBytes }: Quota): string {
  return `${formatByteSize(usedBytes)}${limitBytes === Infinity ? "" : ` of ${formatByteSize(limitBytes)}`}`;
}
