// The time zone: the browser's, or one found by the name of a city.

import { useState } from "preact/hooks";
import { Field } from "../ui/field.tsx";
import { changeDraft, draft } from "./draft.ts";
import { GuidedField } from "./guided-field.tsx";
import type { StepProps } from "./step-props.ts";
import { cityOf, formatTimeIn, findZones } from "./time-zones.ts";

export function TimeStep({ errorOf }: StepProps) {
  const { timezone } = draft.value;
  const [now] = useState(() => Date.now());
  return (
    <>
      <p class="soft">Agents tell the time by it, and schedules will follow it.</p>
      <GuidedField field="timezone">
        <p class="chosen">
          <b>{cityOf(timezone)}</b>
          <span class="soft">
            {timezone}, where it is {formatTimeIn(timezone, now)}
          </span>
        </p>
      </GuidedField>
      <CitySearch error={errorOf("timezone")} now={now} />
    </>
  );
}

function CitySearch({ error, now }: { error: string | null; now: number }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const zones = findZones(typed);
  const isOpen = typed.trim() !== "";
  const chooseZone = (name: string | undefined) => {
    if (name === undefined) return;
    changeDraft({ timezone: name });
    setTyped("");
    setAt(0);
  };
  const handleKeydown = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move !== undefined && zones.length > 0) setAt((at + move + zones.length) % zones.length);
    else if (event.key === "Enter" && isOpen) chooseZone(zones[at]?.name);
    else if (event.key === "Escape" && isOpen) setTyped("");
    else return;
    event.preventDefault();
  };
  return (
    <div class="zones">
      <Field label="Another city" hint="Type some letters, then choose with the arrow keys and Enter." error={error}>
        {(controlProps) => (
          <input
            {...controlProps}
            class="control"
            name="timezone"
            role="combobox"
            aria-expanded={isOpen && zones.length > 0 ? "true" : "false"}
            aria-controls="zones"
            aria-autocomplete="list"
            aria-activedescendant={isOpen && zones.length > 0 ? `zone-${at}` : undefined}
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onInput={(event) => {
              setTyped(event.currentTarget.value);
              setAt(0);
            }}
            onKeyDown={handleKeydown}
          />
        )}
      </Field>
      <ul class="zones-list" id="zones" role="listbox" aria-label="Cities" hidden={!isOpen || zones.length === 0}>
        {zones.map(({ name, city }, index) => (
          <li
            key={`${city} ${name}`}
            id={`zone-${index}`}
            role="option"
            aria-selected={index === at ? "true" : "false"}
            onPointerMove={() => setAt(index)}
            onClick={() => chooseZone(name)}
          >
            <span>{city}</span>
            <span class="soft">
              {name} · {formatTimeIn(name, now)}
            </span>
          </li>
        ))}
      </ul>
      <p class="zones-none soft small" role="status">
        {isOpen && zones.length === 0 ? "No city is called that here. Try the next large one." : ""}
      </p>
    </div>
  );
}
