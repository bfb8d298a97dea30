// Calls a person to questions, whatever is on the screen: the number in the bar, a notice in the page, and one of the browser's
// where nobody looks at the page and it was allowed. What is asked stands on the screen of approvals alone: a notice may be read
// by whoever passes by.

import { effect } from "@preact/signals";
import { makeVisible } from "../../../src/approval/visible.ts";
import { approvals, notificationState, followApprovals, ownQuestions, type PendingQuestion, ownQuestionCount } from "../state/approvals.ts";
import { showNotice } from "../state/notices.ts";
import { setBadge } from "./badges.ts";
import { address, go } from "./route.ts";

export function attend(): () => void {
  /** Those that were there when the page came are in the bar; a notice is for what is new. */
  let known: Set<string> | null = null;
  const stops = [
    followApprovals(),
    effect(() => setBadge("approvals", ownQuestionCount.value)),
    effect(() => {
      const all = ownQuestions.value;
      if (approvals.value.value === null) return;
      const fresh = known === null ? [] : all.filter(({ requestId }) => !known!.has(requestId));
      known = new Set([...(known ?? []), ...all.map(({ requestId }) => requestId)]);
      for (const question of fresh) tell(question);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function tell(question: PendingQuestion): void {
  const { main, beside } = address.peek();
  const isSeen =
    document.visibilityState === "visible" && [main, beside].some((path) => path !== null && /^\/(?:approvals|chat)\b/.test(path));
  const look = () => go("/approvals");
  if (!isSeen) showNotice(`An agent asks: ${summary(question)}`, "plain", { title: "Look", run: look });
  if (document.visibilityState === "visible" || notificationState.peek() !== "on") return;
  try {
    // One for each question, also where several tabs are open.
    const shown = new Notification("An agent asks for your yes", { body: summary(question), tag: question.requestId });
    shown.addEventListener("click", () => {
      window.focus();
      look();
      shown.close();
    });
  } catch {
    // A browser that shows them only for installed pages: the bar and the title remain.
  }
}

function summary({ kind, toolName, target }: PendingQuestion): string {
  if (kind === "budget") return "a budget is used up";
  return `${makeVisible(toolName)} on ${target === "gsv" ? "the gateway" : makeVisible(target)}`;
}
