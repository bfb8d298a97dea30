// Questions that are over, newest first, a page at a time: what was asked, what became of it, and why.

import { useEffect, useRef, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
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

type Past = Result<"proc.approval.history">["questions"][number];

const PAGE = 20;
/** As many as the gateway gives at once. */
const PAGE_MAX = 100;
const BECAME: Record<Past["state"], { word: string; tone: Tone }> = {
  pending: { word: "Waiting", tone: "warn" },
  approved: { word: "Allowed", tone: "good" },
  used: { word: "Allowed", tone: "good" },
  denied: { word: "Denied", tone: "bad" },
  expired: { word: "Nobody answered", tone: "plain" },
  withdrawn: { word: "No longer needed", tone: "plain" },
};

export function History() {
  const [shown, setShown] = useState<readonly Past[] | null>(null);
  const [isAll, setAll] = useState(false);
  const operation = useOperation();
  const count = useRef(PAGE);
  /** As many as are shown already, so that what was just answered joins them without a jump. */
  const read = (limit: number) =>
    operation.run(async () => {
      const { questions } = await call("proc.approval.history", { limit: Math.min(limit + 1, PAGE_MAX) });
      setShown(questions.slice(0, limit));
      setAll(questions.length <= limit);
      count.current = limit;
    });
  useEffect(() => void read(count.current), [connectionCount.value, approvals.value.value]);
  const older = () =>
    operation.run(async () => {
      const before = shown?.at(-1)?.createdAt;
      const { questions } = await call("proc.approval.history", { limit: PAGE + 1, ...(before === undefined ? {} : { before }) });
      setShown([...(shown ?? []), ...questions.slice(0, PAGE)]);
      count.current += PAGE;
      setAll(questions.length <= PAGE);
    });
  const problem = operation.problem !== null && (
    <Banner tone="bad" actions={<Button onClick={() => void read(count.current)}>Try again</Button>}>
      {operation.problem}
    </Banner>
  );
  if (shown === null) return problem || <Skeleton label="Loading what is over" />;
  if (shown.length === 0)
    return (
      <EmptyState icon="approval" title="Nothing was asked yet" text="Every question and what became of it will be here for some time." />
    );
  return (
    <>
      {problem}
      <ul class="entries">
        {shown.map((past) => (
          <Entry key={past.requestId} past={past} />
        ))}
      </ul>
      {!isAll && (
        <Button busy={operation.isBusy} onClick={() => void older()}>
          Show older ones
        </Button>
      )}
    </>
  );
}

function Entry({ past: { kind, toolName, target, state, createdAt, decidedAt, reason, shown } }: { past: Past }) {
  const { word, tone } = BECAME[state];
  const title =
    kind === "budget"
      ? "To go on beyond a budget"
      : `${makeVisible(toolName)} on ${target === "gsv" ? "the gateway" : makeVisible(target)}`;
  const about = kind === "budget" ? null : subjectOf(shown.text);
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
        {about !== null && <code class="entry-about">{about}</code>}
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

/** The command or the path, which the gateway lists first after where it would run. */
function subjectOf(shown: string): string | null {
  const [, line] = shown.split("\n");
  return line === undefined ? null : line.replace(/^\w+: /, "").slice(0, 200);
}
