// When a schedule runs: in words and with its next runs, and changed by words.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call } from "../state/call.ts";
import { useLatest } from "../state/use-latest.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { TextInput } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { NextRuns } from "./next-runs.tsx";
import { capitalize, isOver, isScheduleChange, type Schedule, schedules, TIMEZONE } from "./schedules.ts";
import { usePreview } from "./use-preview.ts";

export function ScheduleWhen({ schedule }: { schedule: Schedule }) {
  const { id, enabled, says, expression } = schedule;
  const [isChanging, setChanging] = useState(false);
  const latest = useLatest("sched.preview", { id, timezone: TIMEZONE }, isScheduleChange);
  const shown = latest.value.value;
  return (
    <Card
      title="When"
      actions={
        !isChanging && (
          <Button icon="edit" onClick={() => setChanging(true)}>
            {isOver(schedule) ? "Run again at…" : "Change when"}
          </Button>
        )
      }
    >
      <p>{capitalize(makeVisible(shown?.says ?? says))}</p>
      {isChanging ? (
        <ChangeWhen schedule={schedule} onDone={() => setChanging(false)} />
      ) : (
        <>
          {enabled && shown !== null && <NextRuns runs={shown.nextRunsMs} />}
          {enabled && expression.kind === "cron" && expression.timezone !== TIMEZONE && (
            <p class="soft small">These times are in your time zone, {TIMEZONE}.</p>
          )}
          {enabled && shown === null && (
            <Loaded latest={latest} label="Loading the next runs">
              {() => null}
            </Loaded>
          )}
        </>
      )}
    </Card>
  );
}

function ChangeWhen({ schedule, onDone }: { schedule: Schedule; onDone: () => void }) {
  const [words, setWords] = useState("");
  const { preview, problem } = usePreview(words, false);
  const operation = useOperation();
  const save = () =>
    operation.run(async () => {
      if (preview === null) return;
      // One that was paused stays paused, but one that is over is to run again.
      const enabled = isOver(schedule) ? { enabled: true } : {};
      await call("sched.update", { id: schedule.id, patch: { expression: preview.expression, ...enabled } });
      await schedules.refetch();
      onDone();
    });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextInput
        label="New time"
        hint={`Such as "every weekday at 9" or "tomorrow at 10". Times are in ${TIMEZONE}.`}
        error={problem}
        value={words}
        onValue={setWords}
        maxLength={200}
        autocomplete="off"
        inputRef={(input) => input?.focus()}
      />
      {preview !== null && (
        <div class="preview" role="status">
          <p>
            <strong>{capitalize(makeVisible(preview.says))}</strong>
          </p>
          <NextRuns runs={preview.nextRunsMs} />
        </div>
      )}
      {operation.problem !== null && <Banner tone="bad">{makeVisible(operation.problem)}</Banner>}
      <div class="row">
        <Button type="submit" look="primary" busy={operation.isBusy} disabled={preview === null}>
          Save
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}
