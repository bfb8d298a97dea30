// The runs of a schedule, newest first: how each ended, and why one failed or was skipped.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { formatDuration } from "../ui/format-duration.ts";
import { Link } from "../frame/link.tsx";
import { joinPath } from "../frame/route.ts";
import { call, type Result } from "../state/call.ts";
import { useLatest } from "../state/use-latest.ts";
import { useOperation } from "../state/use-operation.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner, type Tone } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { isScheduleChange } from "./schedules.ts";
import { formatWhen } from "../ui/format-time.ts";

type Run = Result<"sched.runs">["runs"][number];

const PAGE = 20;

export function RunHistory({ id }: { id: string }) {
  const latest = useLatest("sched.runs", { id, limit: PAGE }, isScheduleChange);
  const [older, setOlder] = useState<{ runs: Run[]; hasMore: boolean } | null>(null);
  const operation = useOperation();
  const loadMore = (last: Run | undefined) =>
    operation.run(async () => {
      const page = await call("sched.runs", { id, limit: PAGE, ...(last === undefined ? {} : { before: last.runId }) });
      setOlder({ runs: [...(older?.runs ?? []), ...page.runs], hasMore: page.hasMore });
    });
  return (
    <Card title="History">
      <Loaded latest={latest} label="Loading the history">
        {({ runs, hasMore }) => {
          const known = new Set(runs.map(({ runId }) => runId));
          const all = [...runs, ...(older?.runs ?? []).filter(({ runId }) => !known.has(runId))];
          if (all.length === 0) return <p class="soft">It has not run yet.</p>;
          return (
            <>
              <ol class="entries">
                {all.map((run) => (
                  <RunEntry key={run.runId} run={run} />
                ))}
              </ol>
              {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
              {(older?.hasMore ?? hasMore) && (
                <div>
                  <Button busy={operation.isBusy} onClick={() => void loadMore(all.at(-1))}>
                    Older runs
                  </Button>
                </div>
              )}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

const STATES: Record<Run["status"], { tone: Tone | "accent"; text: string }> = {
  running: { tone: "accent", text: "At work" },
  ok: { tone: "good", text: "OK" },
  error: { tone: "bad", text: "Failed" },
  skipped: { tone: "warn", text: "Skipped" },
};

function RunEntry({ run: { status, dueAtMs, startedAtMs, finishedAtMs, missed, error, summary, pid } }: { run: Run }) {
  const { tone, text } = STATES[status];
  return (
    <li class="entry">
      <div class="entry-words">
        <p class="row">
          <Badge tone={tone}>{text}</Badge>
          <span>{formatWhen(startedAtMs)}</span>
          <span class="soft small">{describeRun({ status, dueAtMs, startedAtMs, finishedAtMs, missed })}</span>
        </p>
        {error !== null && <p class="small bad-words schedule-said">{makeVisible(error)}</p>}
        {summary !== null && <p class="small schedule-said">{makeVisible(summary)}</p>}
      </div>
      {pid !== null && status !== "skipped" && (
        <Link class="button button-plain" to={joinPath("chat", pid)} aria-label={`Open the conversation of ${formatWhen(startedAtMs)}`}>
          Open
        </Link>
      )}
    </li>
  );
}

/** Less counts as in time. */
const LATE_MS = 60_000;

/** "run by hand, took 1.2 s, made up for 3 missed times". */
function describeRun(run: Pick<Run, "status" | "dueAtMs" | "startedAtMs" | "finishedAtMs" | "missed">): string {
  const { status, dueAtMs, startedAtMs, finishedAtMs, missed } = run;
  const times = `${missed} ${missed === 1 ? "time" : "times"}`;
  return [
    ...(dueAtMs === null ? ["run by hand"] : []),
    ...(dueAtMs !== null && status !== "skipped" && startedAtMs - dueAtMs > LATE_MS ? [`late: was due ${formatWhen(dueAtMs)}`] : []),
    ...(finishedAtMs !== null && status !== "skipped" ? [`took ${formatDuration(finishedAtMs - startedAtMs)}`] : []),
    ...(missed === 0 ? [] : [status === "skipped" ? times : `made up for ${times} missed`]),
  ].join(", ");
}
