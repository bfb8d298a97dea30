// The questions of a conversation, above its message field: one at a time, the oldest first, with steps between them. The card scrolls
// inside, so that its buttons and the message field stay in view.

import { useState } from "preact/hooks";
import type { PendingQuestion } from "../state/approvals.ts";
import type { Conversation } from "../state/conversation.ts";
import { IconButton } from "../ui/button.tsx";
import { Question } from "./question.tsx";
import "./pinned-questions.css";

type PinnedProps = {
  conversation: Conversation;
  /** The purpose of the script whose call a question is about. */
  purposeOf: (question: PendingQuestion) => string | undefined;
};

export function PinnedQuestions({ conversation, purposeOf }: PinnedProps) {
  const [shownId, setShownId] = useState<string | null>(null);
  const questions = conversation.questions.value.value ?? [];
  const at = Math.max(
    0,
    questions.findIndex(({ requestId }) => requestId === shownId),
  );
  const question = questions[at];
  if (question === undefined) return null;
  const step = (by: number) => setShownId(questions[at + by]?.requestId ?? null);
  return (
    <div class="pinned-questions">
      {questions.length > 1 && (
        <div class="pinned-steps">
          <IconButton icon="right" label="Previous question" disabled={at === 0} onClick={() => step(-1)} />
          <span>
            {at + 1} of {questions.length}
          </span>
          <IconButton icon="right" label="Next question" disabled={at === questions.length - 1} onClick={() => step(1)} />
        </div>
      )}
      <Question
        key={question.requestId}
        question={question}
        scriptSays={purposeOf(question)}
        isPinned
        onAnswered={() => void conversation.questions.refetch()}
      />
    </div>
  );
}
