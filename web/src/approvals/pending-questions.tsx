// Pending questions, oldest first, and the notification setting. Root also sees those of other users, below the own ones.

import { approvals, enableNotifications, notificationState, type PendingQuestion, disableNotifications } from "../state/approvals.ts";
import { Link } from "../frame/link.tsx";
import { isPushedHere } from "../state/push-memory.ts";
import { session, username } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Question } from "./question.tsx";

export function PendingQuestions({ pending }: { pending: readonly PendingQuestion[] }) {
  const uid = session.value?.identity.process.uid;
  const own = pending.filter((one) => one.uid === uid);
  const others = pending.filter((one) => one.uid !== uid);
  return (
    <>
      {own.length === 0 && (
        <EmptyState
          icon="approval"
          title="Nothing waits for you"
          text="When an agent wants to do something that needs your yes, it is asked here, and this page's title says so."
        >
          <NotificationSetting />
        </EmptyState>
      )}
      {own.length > 0 && (
        <section class="stack" aria-labelledby="own-questions">
          <h2 class="unseen" id="own-questions">
            Waiting for you
          </h2>
          <QuestionList pending={own} />
          <NotificationSetting />
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

function QuestionList({ pending }: { pending: readonly PendingQuestion[] }) {
  return (
    <ol class="stack">
      {pending.map((question) => (
        <li key={question.requestId}>
          <Question question={question} onAnswered={() => void approvals.refetch()} />
        </li>
      ))}
    </ol>
  );
}

function NotificationSetting() {
  if (isPushedHere(username.value))
    return (
      <p class="soft">
        Questions are pushed to this browser. <Link to="/notifications/settings">Notification settings</Link>
      </p>
    );
  switch (notificationState.value) {
    case "off":
      return (
        <div>
          <Button icon="info" onClick={() => void enableNotifications()}>
            Tell me in the background, too
          </Button>
        </div>
      );
    case "on":
      return (
        <p class="soft">
          This browser tells you of new questions when the page is in the background.{" "}
          <Button look="quiet" onClick={disableNotifications}>
            Stop that
          </Button>
        </p>
      );
    case "blocked":
      return <p class="soft">This browser blocks notices of this page. To be told of new questions, allow them in its settings.</p>;
    case "impossible":
      return null;
  }
}
