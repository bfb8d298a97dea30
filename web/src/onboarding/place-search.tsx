// Finds a time zone by the name of a city, state or country.

import { useState } from "preact/hooks";
import { findZones, formatTimeIn } from "../../../src/lib/time-zones.ts";
import { Field } from "../ui/field.tsx";
import "./place-search.css";

type PlaceSearchProps = { error: string | null; now: number; onZone: (zone: string) => void };

export function PlaceSearch({ error, now, onZone }: PlaceSearchProps) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const zones = findZones(typed);
  const isOpen = typed.trim() !== "";
  const chooseZone = (name: string | undefined) => {
    if (name === undefined) return;
    onZone(name);
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
      <Field label="Find another city or country" hint="Such as Porto, Texas or Japan." error={error}>
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
      <ul class="zones-list" id="zones" role="listbox" aria-label="Places" hidden={!isOpen || zones.length === 0}>
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
        {isOpen && zones.length === 0 ? "No results. Try a large city nearby." : ""}
      </p>
    </div>
  );
}
