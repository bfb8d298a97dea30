// Past questions, newest first, one page at a time: what was asked, the outcome, and the reason.

import { useEffect, useRef, useState } from "preact/hooks";
import { formatBody } from "../../../src/approval/show.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { joinPath } from "../frame/route.ts";
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
const PAGE_MAX = 200;
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
      const asked = Math.min(limit + 1, PAGE_MAX);
      const { questions } = await call("proc.approval.history", { limit: asked });
      const isAll = questions.length < asked;
      const newest = isAll ? questions : questions.slice(0, asked - 1);
      const oldest = newest.at(-1)?.createdAt ?? 0;
      // What was shown beyond one page stays.
      setEntries((shown) => (isAll ? newest : [...newest, ...(shown ?? []).filter(({ createdAt }) => createdAt < oldest)]));
      if (isAll || limit < PAGE_MAX) setHasAll(isAll);
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
    <Banner tone="bad" actions={<Button onClick={() => void readNewest(count.current)}>Retry</Button>}>
      {operation.problem}
    </Banner>
  );
  if (entries === null) return problem || <Skeleton label="Loading the history" />;
  if (entries.length === 0)
    return <EmptyState icon="approval" title="No questions yet" text="Every question and your answer to it are listed here for a month." />;
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
          Show older
        </Button>
      )}
    </>
  );
}

function Entry({ question }: { question: PastQuestion }) {
  const { state, createdAt, decidedAt, reason, shown, title, askedBy, pid, conversationId, syscall, args, target, cwd } = question;
  const { word, tone } = OUTCOMES[state];
  const subject = SUBJECTS.has(syscall) ? firstLineOf(formatBody({ call: syscall, args, target, cwd }).text) : "";
  return (
    <li class="entry entry-tall">
      <div class="entry-words">
        <p class="row">
          <strong>{title}</strong>
          <Badge tone={tone}>{word}</Badge>
        </p>
        {subject !== "" && <code class="entry-about">{subject}</code>}
        <p class="soft small">
          Asked by <Link to={joinPath("chat", pid, conversationId)}>{askedBy.agent}</Link> <Time at={createdAt} />
          {decidedAt !== null && (
            <>
              , answered <Time at={decidedAt} />
            </>
          )}
          {reason !== null && <>. Reason: {makeVisible(reason)}</>}
        </p>
        <details>
          <summary class="small">Details</summary>
          <pre class="entry-text" tabIndex={0} role="group" aria-label={`The whole call: ${title}`} dir="ltr">
            {shown.text}
          </pre>
        </details>
      </div>
    </li>
  );
}

/** Calls whose title does not say all. */
const SUBJECTS: ReadonlySet<string> = new Set(["shell.exec", "codemode.exec", "codemode.run", "sys.mcp.call"]);
const SUBJECT_CHARS = 200;

/** The command, or the beginning of what has several lines, which then start with a bar. */
function firstLineOf(body: string): string {
  const [first = "", second = ""] = body.split("\n");
  return (second.startsWith("  | ") ? `${second.slice(4)} …` : first).slice(0, SUBJECT_CHARS);
}
