// Pending questions, oldest first. Root also sees those of other users, below the own ones.

import { approvals, type PendingQuestion } from "../state/approvals.ts";
import { Link } from "../frame/link.tsx";
import { isPushedHere } from "../state/push-memory.ts";
import { session, username } from "../state/session.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { Question } from "./question.tsx";

export function PendingQuestions({ pending }: { pending: readonly PendingQuestion[] }) {
  const uid = session.value?.identity.process.uid;
  const own = pending.filter((one) => one.uid === uid);
  const others = pending.filter((one) => one.uid !== uid);
  return (
    <>
      {own.length === 0 ? (
        <EmptyState
          icon="approval"
          title="Nothing waits for you"
          text="When an agent wants to do something that needs your OK, such as running a command on one of your machines, it asks here and in its conversation."
        >
          <PushHint />
        </EmptyState>
      ) : (
        <section class="stack" aria-labelledby="own-questions">
          <h2 class="unseen" id="own-questions">
            Waiting for you
          </h2>
          <QuestionList pending={own} hasKeys />
          <PushHint />
        </section>
      )}
      {others.length > 0 && (
        <section class="stack" aria-labelledby="others-questions">
          <h2 id="others-questions">Of other users</h2>
          <QuestionList pending={others} />
        </section>
      )}
    </>
  );
}

/** Keys answer the first question only: which one they mean must be plain. */
function QuestionList({ pending, hasKeys = false }: { pending: readonly PendingQuestion[]; hasKeys?: boolean }) {
  return (
    <ol class="stack">
      {pending.map((question, at) => (
        <li key={question.requestId}>
          <Question question={question} hasKeys={hasKeys && at === 0} onAnswered={() => void approvals.refetch()} />
        </li>
      ))}
    </ol>
  );
}

function PushHint() {
  return (
    <p class="soft small">
      {isPushedHere(username.value)
        ? "Questions are pushed to this browser. "
        : "This browser can tell you of questions while no page is open. "}
      <Link to="/settings/notifications">Notification settings</Link>
    </p>
  );
}
