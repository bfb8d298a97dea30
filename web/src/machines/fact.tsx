// One fact about a machine, inside a list of class "facts".

import type { ComponentChildren } from "preact";

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** "3 days", "5 hours", "12 minutes" */
export function formatUptime(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const [count, unit] =
    minutes >= 2 * 24 * 60
      ? [Math.floor(minutes / 24 / 60), "day"]
      : minutes >= 2 * 60
        ? [Math.floor(minutes / 60), "hour"]
        : [Math.max(1, minutes), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
