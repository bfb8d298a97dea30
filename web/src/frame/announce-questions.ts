// Announces new questions on every screen: the count in the bar, and a notice in the page, which names the agent and the action. The
// notice goes when the question is answered anywhere or comes into view. While no page is open, push messages tell of questions
// (src/kernel/push).

import { effect } from "@preact/signals";
import { approvals, followApprovals, ownQuestions, type PendingQuestion, ownQuestionCount } from "../state/approvals.ts";
import { dismissNotice, postNotice } from "../state/notices.ts";
import { setBadge } from "./badges.ts";
import { address, go, joinPath } from "./route.ts";

export function announceQuestions(): () => void {
  /** Null until the first read. Questions that were pending then only count in the bar; notices are for new ones. */
  let knownIds: Set<string> | null = null;
  /** Notices by the question that they are about. */
  const shown = new Map<string, number>();
  const stops = [
    followApprovals(),
    effect(() => setBadge("approvals", ownQuestionCount.value)),
    effect(() => {
      const questions = ownQuestions.value;
      const toTell = questions.filter((question) => !isInView(question));
      if (approvals.value.value === null) return;
      for (const [requestId, notice] of shown) {
        if (toTell.some((question) => question.requestId === requestId)) continue;
        dismissNotice(notice);
        shown.delete(requestId);
      }
      for (const question of toTell) if (knownIds?.has(question.requestId) === false) shown.set(question.requestId, announce(question));
      knownIds = new Set([...(knownIds ?? []), ...questions.map(({ requestId }) => requestId)]);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Whether a pane shows the question itself: its conversation, or all questions. */
function isInView({ pid, conversationId }: PendingQuestion): boolean {
  const { main, beside } = address.value;
  const places = ["/approvals", joinPath("chat", pid, conversationId)];
  if (conversationId === "default") places.push(joinPath("chat", pid), ...(pid.startsWith("init:") ? ["/chat"] : []));
  return places.includes(main) || (beside !== null && places.includes(beside));
}

function announce({ title, askedBy, pid, conversationId }: PendingQuestion): number {
  const review = () => go(joinPath("chat", pid, conversationId));
  return postNotice(`${askedBy.agent} asks: ${title}?`, "plain", { title: "Review", run: review });
}
