// The next runs of schedules.

import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { joinPath } from "../frame/route.ts";
import { isScheduleChange } from "../schedules/schedules.ts";
import { useLatest } from "../state/use-latest.ts";
import { Card } from "../ui/card.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { formatWhen } from "../ui/format-time.ts";

const HOURS = 24;
const SHOWN = 3;

export function NextRuns() {
  const latest = useLatest("sched.upcoming", { hours: HOURS, limit: SHOWN }, isScheduleChange);
  return (
    <Card title="Next" actions={<Link to="/schedules">All schedules</Link>}>
      <Loaded latest={latest} label="Loading the next runs">
        {({ runs }) =>
          runs.length === 0 ? (
            <p class="home-quiet">
              Nothing is due in the next 24 hours. <Link to="/schedules/add">Add a schedule</Link>
            </p>
          ) : (
            <ul class="home-list">
              {runs.slice(0, SHOWN).map(({ scheduleId, name, atMs }) => (
                <li key={`${scheduleId} ${atMs}`}>
                  <Link class="home-row" to={joinPath("schedules", scheduleId)}>
                    <span class="home-row-icon" data-tone="plain">
                      <Icon name="schedule" />
                    </span>
                    <span class="home-row-words">
                      <span class="home-row-title">{makeVisible(name)}</span>
                    </span>
                    <span class="home-row-when">{formatWhen(atMs)}</span>
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
