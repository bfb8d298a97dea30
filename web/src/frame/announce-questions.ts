// Announces new questions on every screen: the count in the bar, a notice in the page, and a browser notification if the page is
// hidden and the user enabled them. A notice contains only the tool and its target, because others may see the screen; the whole
// question is shown in chat and on the approvals screen.

import { effect } from "@preact/signals";
import { makeVisible } from "../../../src/approval/visible.ts";
import { nameOfAction } from "../../../src/client/client.ts";
import { approvals, notificationState, followApprovals, ownQuestions, type PendingQuestion, ownQuestionCount } from "../state/approvals.ts";
import { isPushedHere } from "../state/push-memory.ts";
import { username } from "../state/session.ts";
import { showNotice } from "../state/notices.ts";
import { setBadge } from "./badges.ts";
import { address, go } from "./route.ts";

export function announceQuestions(): () => void {
  /** Null until the first read. Questions that were pending then only count in the bar; notices are for new ones. */
  let knownIds: Set<string> | null = null;
  const stops = [
    followApprovals(),
    effect(() => setBadge("approvals", ownQuestionCount.value)),
    effect(() => {
      const questions = ownQuestions.value;
      if (approvals.value.value === null) return;
      const newQuestions = knownIds === null ? [] : questions.filter(({ requestId }) => !knownIds!.has(requestId));
      knownIds = new Set([...(knownIds ?? []), ...questions.map(({ requestId }) => requestId)]);
      for (const question of newQuestions) announce(question);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function announce(question: PendingQuestion): void {
  const { main, beside } = address.peek();
  const isSeen =
    document.visibilityState === "visible" && [main, beside].some((path) => path !== null && /^\/(?:approvals|chat)\b/.test(path));
  const openApprovals = () => go("/approvals");
  if (!isSeen) showNotice(`An agent asks: ${summarize(question)}`, "plain", { title: "Look", run: openApprovals });
  // The service worker shows what is pushed.
  if (document.visibilityState === "visible" || notificationState.peek() !== "on" || isPushedHere(username.peek())) return;
  try {
    // The tag makes several tabs show one notification per question.
    const notification = new Notification("An agent asks for your yes", { body: summarize(question), tag: question.requestId });
    notification.addEventListener("click", () => {
      window.focus();
      openApprovals();
      notification.close();
    });
  } catch {
    // Some browsers show notifications only for installed pages. The count in the bar and the title remains.
  }
}

function summarize(question: PendingQuestion): string {
  return question.kind === "budget" ? "a budget is used up" : makeVisible(nameOfAction(question));
}
