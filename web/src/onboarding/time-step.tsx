// The time zone: the browser's, or one found by the name of a place.

import { useState } from "preact/hooks";
import { changeDraft, draft } from "./draft.ts";
import { GuidedField } from "./guided-field.tsx";
import { ChosenZone } from "./chosen-zone.tsx";
import { PlaceSearch } from "./place-search.tsx";
import type { StepProps } from "./step-props.ts";

export function TimeStep({ errorOf }: StepProps) {
  const { timezone } = draft.value;
  const [now] = useState(() => Date.now());
  const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <>
      <p class="soft">{`Agents and schedules use it.${timezone === browserZone ? " Suggested by your browser." : ""}`}</p>
      <GuidedField field="timezone">
        <ChosenZone zone={timezone} now={now} />
      </GuidedField>
      <PlaceSearch error={errorOf("timezone")} now={now} onZone={(zone) => changeDraft({ timezone: zone })} />
    </>
  );
}
