// What sys.doctor tells of quotas: everybody of their own, root of whoever has nearly used theirs up.

import { byteSize } from "../../lib/byte-size.ts";
import { isRoot } from "../../protocol/caller.ts";
import type { Check } from "../../protocol/check.ts";
import type { ReadContext } from "../context.ts";
import { type Quota, USER_QUOTAS_KEY } from "../files/quotas.ts";

const NEARLY = 0.9;
/** Users that are told one by one. */
const NAMED_MAX = 5;

export function quota({ quotas }: Pick<ReadContext, "quotas">, caller: { uid: number }): Check {
  const check = { id: "quota", title: "Quotas" };
  if (!isRoot(caller)) {
    const own = quotas.of(caller.uid);
    const says = `You store ${described(own)}.`;
    if (!isNearly(own)) return { ...check, state: "ok", says, next: null };
    return { ...check, state: "warn", says, next: `Delete files, or ask root to raise ${USER_QUOTAS_KEY}/${caller.uid}.` };
  }
  const nearly = quotas.list().filter(isNearly);
  if (nearly.length === 0) return { ...check, state: "ok", says: "No user has nearly used up their quota.", next: null };
  const more = nearly.length - NAMED_MAX;
  const named = nearly.slice(0, NAMED_MAX).map((one) => `${one.username} (${described(one)})`);
  return {
    ...check,
    state: "warn",
    says: `Nearly used up: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`,
    next: `Let them delete files, or raise ${USER_QUOTAS_KEY}/${nearly[0]!.uid}.`,
  };
}

function isNearly({ usedBytes, limitBytes }: Quota): boolean {
  return usedBytes > NEARLY * limitBytes;
}

function described({ usedBytes, limitBytes }: Quota): string {
  return `${byteSize(usedBytes)}${limitBytes === Infinity ? "" : ` of ${byteSize(limitBytes)}`}`;
}
