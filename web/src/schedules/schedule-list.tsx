// All schedules, the next to run first, with how the last run went.

import { makeVisible } from "../../../src/approval/visible.ts";
import { useActions } from "../frame/actions.ts";
import { Link } from "../frame/link.tsx";
import { go, joinPath, type PaneName } from "../frame/route.ts";
import { mayCall } from "../state/session.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";
import { ComingRuns } from "./coming-runs.tsx";
import { NewSchedule } from "./new-schedule.tsx";
import { capitalize, isOver, type Schedule, schedules, useSchedules } from "./schedules.ts";
import { formatWhen } from "../ui/format-time.ts";

export function ScheduleList({ pane }: { pane: PaneName }) {
  useSchedules();
  const openAdd = () => go(joinPath("schedules", "add"), { pane });
  useActions(
    () => [{ id: "schedules.add", title: "Add a schedule", group: "Schedules", words: "new cron reminder timer every", run: openAdd }],
    [pane],
  );
  return (
    <Loaded latest={schedules} label="Loading your schedules">
      {({ schedules: all, count }) =>
        all.length === 0 ? (
          <>
            <p class="soft schedules-none">
              A schedule starts an agent at set times, such as every weekday at 9. It appears here with its next run and how the last one
              went.
            </p>
            {mayCall("sched.add") && <NewSchedule onAdded={(id) => go(joinPath("schedules", id), { pane })} />}
          </>
        ) : (
          <>
            <div class="schedules-head">
              <p class="soft">{count === 1 ? "1 schedule" : `${count} schedules`}</p>
              {mayCall("sched.add") && (
                <Button look="primary" icon="plus" onClick={openAdd}>
                  Add a schedule
                </Button>
              )}
            </div>
            <ComingRuns />
            <section aria-label="All schedules" class="entries schedule-table">
              <div class="schedule-row schedule-columns" aria-hidden="true">
                <span>Name</span>
                <span>Next run</span>
                <span>Last run</span>
              </div>
              <ul>
                {all.map((schedule) => (
                  <ScheduleEntry key={schedule.id} schedule={schedule} />
                ))}
              </ul>
            </section>
          </>
        )
      }
    </Loaded>
  );
}

function ScheduleEntry({ schedule }: { schedule: Schedule }) {
  const { id, name, says, state } = schedule;
  return (
    <li>
      <Link class="schedule-row" to={joinPath("schedules", id)}>
        <span class="entry-words">
          <strong>{makeVisible(name)}</strong>
          <span class="soft small">{capitalize(makeVisible(says))}</span>
          {state.lastError !== null && state.lastStatus === "error" && (
            <span class="small bad-words">{makeVisible(state.lastError).slice(0, ERROR_CHARS)}</span>
          )}
        </span>
        <span class="schedule-time">
          {state.nextRunAtMs === null ? (
            <NoNextRun schedule={schedule} />
          ) : (
            <>
              <span>
                <span class="unseen">Next run </span>
                {formatWhen(state.nextRunAtMs)}
              </span>
              <span class="soft small">
                <Time at={state.nextRunAtMs} />
              </span>
            </>
          )}
        </span>
        <span class="schedule-time">
          <LastRunBadge schedule={schedule} />
          {state.lastRunAtMs !== null && (
            <span class="soft small">
              <Time at={state.lastRunAtMs} />
            </span>
          )}
        </span>
        <Icon name="right" />
      </Link>
    </li>
  );
}

const ERROR_CHARS = 160;

function NoNextRun({ schedule }: { schedule: Schedule }) {
  if (schedule.state.pausedBecause !== null) return <Badge tone="bad">Paused after failures</Badge>;
  if (isOver(schedule)) return <span class="soft">Ended</span>;
  return schedule.enabled ? <span class="soft">Not scheduled</span> : <Badge>Paused</Badge>;
}

function LastRunBadge({ schedule }: { schedule: Schedule }) {
  const { runningAtMs, lastStatus } = schedule.state;
  if (runningAtMs !== null)
    return (
      <Badge tone="accent" dot>
        Running
      </Badge>
    );
  if (lastStatus === "error") return <Badge tone="bad">Failed</Badge>;
  if (lastStatus === "skipped") return <Badge tone="warn">Skipped</Badge>;
  if (lastStatus === "ok") return <Badge tone="good">{isOver(schedule) ? "Done" : "OK"}</Badge>;
  return <Badge>Not run yet</Badge>;
}

/** What a person wants to know first of a schedule. */
export function StateBadge({ schedule }: { schedule: Schedule }) {
  const { enabled, state } = schedule;
  if (state.runningAtMs !== null)
    return (
      <Badge tone="accent" dot>
        Running
      </Badge>
    );
  if (state.pausedBecause !== null) return <Badge tone="bad">Paused after failures</Badge>;
  if (isOver(schedule) && state.lastStatus !== "error") return <Badge>Done</Badge>;
  if (!enabled && !isOver(schedule)) return <Badge>Paused</Badge>;
  if (state.lastStatus === "error") return <Badge tone="bad">Last run failed</Badge>;
  if (state.lastStatus === "skipped") return <Badge tone="warn">Last time skipped</Badge>;
  return state.lastStatus === "ok" ? <Badge tone="good">OK</Badge> : <Badge>Not run yet</Badge>;
}
