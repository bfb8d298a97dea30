// A time zone as people recognize it: its city, its name and the time there.

import { cityOf, formatTimeIn } from "../../../src/lib/time-zones.ts";
import "./place-search.css";

export function ChosenZone({ zone, now }: { zone: string; now: number }) {
  const city = cityOf(zone);
  return (
    <p class="chosen">
      <b>{city}</b>
      <span class="soft">
        {city === zone ? "" : `${zone} · `}now {formatTimeIn(zone, now)}
      </span>
    </p>
  );
}
