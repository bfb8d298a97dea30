// Schedules: what agents do at set times. A schedule has an address of its own.

import { makeVisible } from "../../../src/approval/visible.ts";
import { usePaneTitle } from "../frame/titles.ts";
import { Schedule } from "../schedules/schedule.tsx";
import { ScheduleList } from "../schedules/schedule-list.tsx";
import { schedules } from "../schedules/schedules.ts";
import type { ScreenProps } from "./screens.ts";
import "../schedules/schedules.css";

export default function Schedules({ rest: [id], pane }: ScreenProps) {
  const name = schedules.value.value?.schedules.find((one) => one.id === id)?.name;
  usePaneTitle(id === undefined ? null : makeVisible(name ?? "Schedule"));
  return <div class="schedules">{id === undefined ? <ScheduleList pane={pane} /> : <Schedule id={id} pane={pane} key={id} />}</div>;
}
