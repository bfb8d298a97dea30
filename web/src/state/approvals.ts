// The pending questions and grants of the logged-in user: one list for the whole page, shown by the bar, the title, notices and
// the approvals screen. It is read while the frame is mounted, and refetched on every change and reconnect.

import { computed, effect } from "@preact/signals";
import { HIL_REQUESTED } from "../../../src/protocol/signal-names.ts";
import { call, describeError, type Result } from "./call.ts";
import { makeChangeFilter } from "./refetch-on.ts";
import { Latest } from "./latest.ts";
import { client, connectionCount, mayCall, session } from "./session.ts";

export type Approvals = Result<"proc.approval.list">;
export type PendingQuestion = Approvals["pending"][number];

const isApprovalChange = makeChangeFilter("approvals", "grants");

export const approvals = new Latest<Approvals>(() => call("proc.approval.list", {}), describeError);

/** The user's own questions, oldest first. Root also sees those of other users but gets no notices of them. */
export const ownQuestions = computed<readonly PendingQuestion[]>(() => {
  const uid = session.value?.identity.process.uid;
  return (approvals.value.value?.pending ?? []).filter((one) => one.uid === uid);
});

export const ownQuestionCount = computed(() => ownQuestions.value.length);

/** Returns a function that stops it. */
export function followApprovals(): () => void {
  return effect(() => {
    if (connectionCount.value === 0 || !mayCall("proc.approval.list")) return;
    void approvals.refetch();
    return client.value?.onSignal((sent) => {
      if (isApprovalChange(sent) || sent.signal === HIL_REQUESTED) void approvals.refetch();
    });
  });
}
