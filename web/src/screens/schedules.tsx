// Schedules: what agents do at set times. A schedule has an address of its own, and so has
// the form for a new one.

import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { go, joinPath } from "../frame/route.ts";
import { usePaneTitle } from "../frame/titles.ts";
import { NewSchedule } from "../schedules/new-schedule.tsx";
import { Schedule } from "../schedules/schedule.tsx";
import { ScheduleList } from "../schedules/schedule-list.tsx";
import { schedules } from "../schedules/schedules.ts";
import { Icon } from "../ui/icon.tsx";
import type { ScreenProps } from "./screens.ts";
import "../schedules/schedules.css";

const ADD = "add";

export default function Schedules({ rest: [id], pane }: ScreenProps) {
  const name = schedules.value.value?.schedules.find((one) => one.id === id)?.name;
  usePaneTitle(id === undefined ? null : id === ADD ? "Add a schedule" : makeVisible(name ?? "Schedule"));
  return (
    <div class="schedules">
      {id === undefined ? (
        <ScheduleList pane={pane} />
      ) : id === ADD ? (
        <>
          <Link class="back" to="/schedules">
            <Icon name="back" />
            All schedules
          </Link>
          <NewSchedule onAdded={(added) => go(joinPath("schedules", added), { pane, replace: true })} />
        </>
      ) : (
        <Schedule id={id} pane={pane} key={id} />
      )}
    </div>
  );
}
