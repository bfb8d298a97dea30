// Prints the findings of scenarios, for people and for programs.

import type { Measure } from "./stats.ts";

/**
 * `ratio` compares the gateway to the floor, or to its own smallest size, in the figure that the goal is about; null where
 * neither applies.
 */
export type Finding = {
  bench: string;
  gateway: Measure;
  floor: Measure | null;
  ratio: number | null;
  goal: string;
  /** null: measured, but no goal is set. */
  pass: boolean | null;
};

const COLUMNS: [keyof Measure, string][] = [
  ["perSecond", "per second"],
  ["p50Ms", "p50 ms"],
  ["p99Ms", "p99 ms"],
  ["maxMs", "max ms"],
  ["coldMs", "first ms"],
  ["firstP50Ms", "first word p50 ms"],
  ["recordedMs", "all recorded ms"],
  ["deliveredMs", "all delivered ms"],
  ["answeredMs", "all answered ms"],
  ["mbPerSecond", "MB/s"],
  ["cpuMsPerCall", "CPU ms each"],
  ["farCpuMsPerCall", "ends' CPU ms each"],
  ["rssMb", "RSS MB"],
  ["diskBytesPerCall", "disk bytes each"],
  ["syncsPerCall", "syncs each"],
  ["eventsPerCall", "events each"],
  ["serverBusy", "server busy"],
  ["loadBusy", "load busy"],
  ["kbPerConnection", "KB each"],
  ["growthMb", "growth MB"],
  ["farGrowthMb", "ends' growth MB"],
];

export function jsonLine(finding: Finding): string {
  const { gateway, floor } = finding;
  const cpuRatio = over(gateway.cpuMsPerCall, floor?.cpuMsPerCall);
  return JSON.stringify({ ...finding, ...(cpuRatio === null ? {} : { cpuRatio }) }, (_, value: unknown) =>
    typeof value === "number" ? Number(value.toPrecision(4)) : value,
  );
}

/** One table: gateway / floor in each cell. */
export function table(findings: readonly Finding[]): string {
  const shown = COLUMNS.filter(([field]) => findings.some(({ gateway }) => gateway[field] !== undefined));
  const head = ["bench", ...shown.map(([, title]) => title), "CPU ratio", "ratio", "goal", "met"];
  const rows = findings.map(({ bench, gateway, floor, ratio, goal, pass }) => [
    bench,
    ...shown.map(([field]) => pair(gateway[field], floor?.[field])),
    short(over(gateway.cpuMsPerCall, floor?.cpuMsPerCall)),
    short(ratio),
    goal,
    pass === null ? "-" : pass ? "yes" : "NO",
  ]);
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function over(mine: number | undefined, theirs: number | undefined): number | null {
  return mine === undefined || theirs === undefined ? null : mine / theirs;
}

function pair(mine: number | undefined, theirs: number | undefined): string {
  if (mine === undefined) return "";
  return theirs === undefined ? short(mine) : `${short(mine)} / ${short(theirs)}`;
}

function short(value: number | null): string {
  if (value === null) return "";
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}
