// A small bar that shows how much of something is used, with its number.

import "./gauge.css";

/** From this part on, what is used is worth a look, or is a problem. */
const HIGH = 0.8;
const FULL = 0.93;

type GaugeProps = { label: string; used: number; words: string; mayBeFull?: boolean };

/** `used` from 0 to 1; `words` says it in numbers. `mayBeFull`: it is no problem if all of it is used for a while. */
export function Gauge({ label, used, words, mayBeFull = false }: GaugeProps) {
  const percent = Math.round(used * 100);
  const level = mayBeFull || used < HIGH ? "normal" : used < FULL ? "high" : "full";
  return (
    <div class="gauge" data-level={level}>
      <span class="gauge-words">
        <span class="gauge-label">{label}</span>
        <span class="gauge-number">{words}</span>
      </span>
      <svg
        class="gauge-bar"
        viewBox="0 0 100 1"
        preserveAspectRatio="none"
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        aria-valuetext={words}
      >
        <rect width={percent} height={1} />
      </svg>
    </div>
  );
}
