// A strip of the next 24 hours with the runs of all schedules, each a mark at its time; below it the next ones in words.

import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { joinPath } from "../frame/route.ts";
import type { Result } from "../state/call.ts";
import { useLatest } from "../state/use-latest.ts";
import { Card } from "../ui/card.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { isScheduleChange } from "./schedules.ts";
import { formatClock, formatWhen } from "../ui/format-time.ts";

type Run = Result<"sched.upcoming">["runs"][number];

const HOURS = 24;
const HOUR_MS = 60 * 60 * 1000;
const LISTED = 5;
/** More marks would be a solid bar. */
const MARKS_MAX = 120;

export function ComingRuns() {
  const latest = useLatest("sched.upcoming", { hours: HOURS, limit: MARKS_MAX }, isScheduleChange);
  return (
    <Card title="Next 24 hours">
      <Loaded latest={latest} label="Loading the coming runs">
        {({ runs }) => (runs.length === 0 ? <p class="soft">Nothing is due in the next 24 hours.</p> : <Strip runs={runs} />)}
      </Loaded>
    </Card>
  );
}

function Strip({ runs }: { runs: readonly Run[] }) {
  const now = Date.now();
  const hours = Array.from({ length: HOURS / 6 + 1 }, (_, at) => now + at * 6 * HOUR_MS);
  return (
    <>
      <svg class="strip" viewBox="0 0 960 36" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <path class="strip-line" d="M0 18H960" />
        {hours.map((at) => (
          <path class="strip-hour" key={at} d={`M${xOf(at, now)} 8V28`} />
        ))}
        {runs.map(({ scheduleId, atMs }) => (
          <path class="strip-run" key={`${scheduleId} ${atMs}`} d={`M${xOf(atMs, now)} 3V33`} />
        ))}
      </svg>
      <p class="strip-hours soft small" aria-hidden="true">
        {hours.map((at, index) => (
          <span key={at}>{index === 0 ? "now" : formatClock(at)}</span>
        ))}
      </p>
      <ul class="coming-runs">
        {runs.slice(0, LISTED).map(({ scheduleId, name, atMs }) => (
          <li key={`${scheduleId} ${atMs}`}>
            <span class="soft">{formatWhen(atMs)}</span> <Link to={joinPath("schedules", scheduleId)}>{makeVisible(name)}</Link>
          </li>
        ))}
        {runs.length > LISTED && <li class="soft">{`and ${runs.length - LISTED}${runs.length === MARKS_MAX ? " or more" : ""} others`}</li>}
      </ul>
    </>
  );
}

function xOf(at: number, now: number): number {
  return Math.round(Math.max(0, Math.min(1, (at - now) / (HOURS * HOUR_MS))) * 956) + 2;
}
