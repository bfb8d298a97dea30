// All schedules, the next to run first, with how the last run went.

import { makeVisible } from "../../../src/approval/visible.ts";
import { useActions } from "../frame/actions.ts";
import { Link } from "../frame/link.tsx";
import { go, joinPath, type PaneName } from "../frame/route.ts";
import { mayCall } from "../state/session.ts";
import { Badge } from "../ui/badge.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";
import { showNotice } from "../state/notices.ts";
import { ComingRuns } from "./coming-runs.tsx";
import { NewSchedule } from "./new-schedule.tsx";
import { capitalize, formatWhen, isOver, type Schedule, schedules, useSchedules } from "./schedules.ts";

export function ScheduleList({ pane }: { pane: PaneName }) {
  useSchedules();
  useActions(
    () => [{ id: "schedules.add", title: "New schedule", group: "Schedules", words: "cron reminder timer every", run: focusForm }],
    [pane],
  );
  const onAdded = (id: string) => {
    void schedules.refetch();
    showNotice("The schedule was added", "good", { title: "Look", run: () => go(joinPath("schedules", id), { pane }) });
  };
  return (
    <>
      {mayCall("sched.add") && <NewSchedule onAdded={onAdded} />}
      <Loaded latest={schedules} label="Loading your schedules">
        {({ schedules: all, count }) =>
          all.length === 0 ? (
            <p class="soft schedules-none">
              No schedules yet. What you add above appears here, with its next run and how the last one went.
            </p>
          ) : (
            <>
              <ComingRuns />
              <section class="stack" aria-labelledby="all-schedules">
                <h2 id="all-schedules">{count === 1 ? "1 schedule" : `${count} schedules`}</h2>
                <ul class="entries">
                  {all.map((schedule) => (
                    <ScheduleEntry key={schedule.id} schedule={schedule} />
                  ))}
                </ul>
              </section>
            </>
          )
        }
      </Loaded>
    </>
  );
}

function focusForm(): void {
  document.querySelector<HTMLInputElement>(".schedules .card input")?.focus();
}

function ScheduleEntry({ schedule }: { schedule: Schedule }) {
  const { id, name, says, state } = schedule;
  return (
    <li>
      <Link class="schedule-row" to={joinPath("schedules", id)}>
        <span class="entry-words">
          <span class="row">
            <strong>{makeVisible(name)}</strong>
            <StateBadge schedule={schedule} />
          </span>
          <span class="soft small">{capitalize(makeVisible(says))}</span>
          {state.lastError !== null && state.lastStatus === "error" && (
            <span class="small bad-words">{makeVisible(state.lastError).slice(0, ERROR_CHARS)}</span>
          )}
        </span>
        <span class="schedule-next small">
          {state.nextRunAtMs === null ? (
            <span class="soft">{state.lastRunAtMs === null ? "Not scheduled" : "Has ended"}</span>
          ) : (
            <>
              {formatWhen(state.nextRunAtMs)}
              <span class="soft">
                <Time at={state.nextRunAtMs} />
              </span>
            </>
          )}
        </span>
        <Icon name="right" />
      </Link>
    </li>
  );
}

const ERROR_CHARS = 160;

/** What a person wants to know first of a schedule. */
export function StateBadge({ schedule }: { schedule: Schedule }) {
  const { enabled, state } = schedule;
  if (state.runningAtMs !== null)
    return (
      <Badge tone="accent" dot>
        At work
      </Badge>
    );
  if (state.pausedBecause !== null) return <Badge tone="bad">Paused after failures</Badge>;
  if (isOver(schedule) && state.lastStatus !== "error") return <Badge>Done</Badge>;
  if (!enabled && !isOver(schedule)) return <Badge>Paused</Badge>;
  if (state.lastStatus === "error") return <Badge tone="bad">Last run failed</Badge>;
  if (state.lastStatus === "skipped") return <Badge tone="warn">Last time skipped</Badge>;
  return state.lastStatus === "ok" ? <Badge tone="good">OK</Badge> : <Badge>New</Badge>;
}
