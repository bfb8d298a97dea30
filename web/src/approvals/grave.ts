// Which calls do what nobody can undo. Their questions look dangerous, and only a press on the button allows them: no key does.

import type { Tag } from "../../../src/approval/request.ts";
import type { PendingQuestion } from "../state/approvals.ts";

const GRAVE: readonly Tag[] = ["deletes", "destructive", "elevates", "reads-secret"];
const REMOVING_CALL = /\.(?:delete|remove|reset|revoke|rewind)$/;

export function isGrave({ syscall, tags }: Pick<PendingQuestion, "syscall" | "tags">): boolean {
  return REMOVING_CALL.test(syscall) || GRAVE.some((tag) => tags.includes(tag));
}
