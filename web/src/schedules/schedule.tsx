// The page of one schedule: when it runs, what it does, and its history.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { go, joinPath, type PaneName } from "../frame/route.ts";
import { type Args, call } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Select } from "../ui/choice.tsx";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { NOTIFIES } from "./new-schedule.tsx";
import { RunHistory } from "./run-history.tsx";
import { ScheduleText } from "./schedule-text.tsx";
import { ScheduleWhen } from "./schedule-when.tsx";
import { StateBadge } from "./schedule-list.tsx";
import { isOver, type Schedule as ScheduleRecord, schedules, useSchedules } from "./schedules.ts";

type Patch = Args<"sched.update">["patch"];

export function Schedule({ id, pane }: { id: string; pane: PaneName }) {
  useSchedules();
  return (
    <>
      <Link class="back" to={joinPath("schedules")}>
        <Icon name="back" />
        All schedules
      </Link>
      <Loaded latest={schedules} label="Loading the schedule">
        {({ schedules: all }) => {
          const schedule = all.find((one) => one.id === id);
          return schedule === undefined ? (
            <EmptyState icon="schedule" title="There is no such schedule" text="It was removed, or it is not yours." />
          ) : (
            <Page schedule={schedule} pane={pane} />
          );
        }}
      </Loaded>
    </>
  );
}

function Page({ schedule, pane }: { schedule: ScheduleRecord; pane: PaneName }) {
  const { id, name, enabled, state, notify, catchUp, creator } = schedule;
  const operation = useOperation();
  const [isRemoving, setRemoving] = useState(false);
  const change = (patch: Patch) =>
    operation.run(async () => {
      await call("sched.update", { id, patch });
      await schedules.refetch();
    });
  const runNow = () =>
    operation.run(async () => {
      const { results } = await call("sched.run", { id, mode: "force" });
      const [result] = results;
      if (result !== undefined && result.status !== "ok") showNotice(result.error ?? "It did not run", "bad");
    });
  return (
    <>
      <div class="schedule-head">
        <h2>{makeVisible(name)}</h2>
        <StateBadge schedule={schedule} />
        <div class="row schedule-buttons">
          <Button icon="play" busy={operation.isBusy} disabled={state.runningAtMs !== null} onClick={() => void runNow()}>
            Run now
          </Button>
          {!isOver(schedule) && (
            <Button icon={enabled ? "pause" : "schedule"} busy={operation.isBusy} onClick={() => void change({ enabled: !enabled })}>
              {enabled ? "Pause" : "Resume"}
            </Button>
          )}
          <Button look="quiet" onClick={() => setRemoving(true)}>
            Remove…
          </Button>
        </div>
      </div>
      {state.pausedBecause !== null && <Banner tone="warn">{makeVisible(state.pausedBecause)}. Resume it when the cause is mended.</Banner>}
      {operation.problem !== null && <Banner tone="bad">{makeVisible(operation.problem)}</Banner>}
      <ScheduleWhen schedule={schedule} />
      <ScheduleText schedule={schedule} />
      <Card title="Details">
        <dl class="facts">
          <Fact name="If the gateway was not running">{catchUp === "once" ? "Makes up for it with one run" : "Skips it"}</Fact>
          <Fact name="Made by">
            {creator.kind === "process" ? `The agent ${makeVisible(creator.pid ?? "")}` : makeVisible(creator.username)}
          </Fact>
          <Fact name="Runs so far">{String(state.runCount)}</Fact>
        </dl>
        <Select label="Notify me" value={notify} options={NOTIFIES} onValue={(value) => void change({ notify: value })} />
      </Card>
      <RunHistory id={id} />
      {isRemoving && (
        <ConfirmDialog
          title={`Remove ${makeVisible(name)}?`}
          confirmLabel="Remove it"
          cancelLabel="Keep it"
          onConfirm={async () => {
            await call("sched.remove", { id });
            await schedules.refetch();
            go(joinPath("schedules"), { pane });
          }}
          onClose={() => setRemoving(false)}
        >
          <p>It does not run again, and its history goes. Conversations of the agents that it started stay.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
