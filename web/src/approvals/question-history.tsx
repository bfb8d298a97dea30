// Past questions, newest first, one page at a time: what was asked, the outcome, and the reason.

import { useEffect, useRef, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { nameOfAction } from "../../../src/client/client.ts";
import { approvals } from "../state/approvals.ts";
import { call, type Result } from "../state/call.ts";
import { connectionCount } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner, type Tone } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";

type PastQuestion = Result<"proc.approval.history">["questions"][number];

const PAGE = 20;
/** The largest page that the gateway returns. */
const PAGE_MAX = 100;
const OUTCOMES: Record<PastQuestion["state"], { word: string; tone: Tone }> = {
  pending: { word: "Waiting", tone: "warn" },
  approved: { word: "Allowed", tone: "good" },
  used: { word: "Allowed", tone: "good" },
  denied: { word: "Denied", tone: "bad" },
  expired: { word: "Nobody answered", tone: "plain" },
  withdrawn: { word: "No longer needed", tone: "plain" },
};

export function QuestionHistory() {
  const [entries, setEntries] = useState<readonly PastQuestion[] | null>(null);
  const [hasAll, setHasAll] = useState(false);
  const operation = useOperation();
  const count = useRef(PAGE);
  /** Reads as many as are already shown, so that a newly answered question is added without a jump. */
  const readNewest = (limit: number) =>
    operation.run(async () => {
      const { questions } = await call("proc.approval.history", { limit: Math.min(limit + 1, PAGE_MAX) });
      setEntries(questions.slice(0, limit));
      setHasAll(questions.length <= limit);
      count.current = limit;
    });
  useEffect(() => void readNewest(count.current), [connectionCount.value, approvals.value.value]);
  const readOlder = () =>
    operation.run(async () => {
      const before = entries?.at(-1)?.createdAt;
      const { questions } = await call("proc.approval.history", { limit: PAGE + 1, ...(before === undefined ? {} : { before }) });
      setEntries([...(entries ?? []), ...questions.slice(0, PAGE)]);
      count.current += PAGE;
      setHasAll(questions.length <= PAGE);
    });
  const problem = operation.problem !== null && (
    <Banner tone="bad" actions={<Button onClick={() => void readNewest(count.current)}>Try again</Button>}>
      {operation.problem}
    </Banner>
  );
  if (entries === null) return problem || <Skeleton label="Loading what is over" />;
  if (entries.length === 0)
    return (
      <EmptyState icon="approval" title="Nothing was asked yet" text="Every question and what became of it will be here for some time." />
    );
  return (
    <>
      {problem}
      <ul class="entries">
        {entries.map((question) => (
          <Entry key={question.requestId} question={question} />
        ))}
      </ul>
      {!hasAll && (
        <Button busy={operation.isBusy} onClick={() => void readOlder()}>
          Show older ones
        </Button>
      )}
    </>
  );
}

function Entry({ question }: { question: PastQuestion }) {
  const { kind, state, createdAt, decidedAt, reason, shown } = question;
  const { word, tone } = OUTCOMES[state];
  const title = kind === "budget" ? "To go on beyond a budget" : makeVisible(nameOfAction(question));
  const subject = kind === "budget" ? null : parseSubject(shown.text);
  return (
    <li class="entry entry-tall">
      <div class="entry-words">
        <p class="row">
          <strong>{title}</strong>
          <Badge tone={tone}>{word}</Badge>
        </p>
        <p class="soft small">
          Asked <Time at={createdAt} />
          {decidedAt !== null && (
            <>
              , answered <Time at={decidedAt} />
            </>
          )}
          {reason !== null && <>. Reason given: {makeVisible(reason)}</>}
        </p>
        {subject !== null && <code class="entry-about">{subject}</code>}
        <details>
          <summary>All of it</summary>
          <pre class="entry-text" tabIndex={0} role="group" aria-label={`What it was: ${title}`} dir="ltr">
            {shown.text}
          </pre>
        </details>
      </div>
    </li>
  );
}

/** The command or the path: the gateway puts it on the second line, after the target, or below if it has several lines. */
function parseSubject(shown: string): string | null {
  const [, line, below] = shown.split("\n");
  if (line === undefined) return null;
  const subject = /^\w+:$/.test(line) && below?.startsWith("  | ") === true ? below.slice(4) : line.replace(/^\w+: /, "");
  return subject.slice(0, 200);
}
