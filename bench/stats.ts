// Medians and percentiles.

/** Sorts `values` in place. */
export function percentile(values: Float64Array | number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  if (Array.isArray(values)) values.sort((a, b) => a - b);
  else values.sort();
  return values[Math.min(values.length - 1, Math.floor(values.length * share))]!;
}

export function median(values: readonly number[]): number {
  return percentile([...values], 0.5);
}

/** What was measured of one server; fields that were not measured are missing. */
export type Measure = {
  perSecond?: number;
  p50Ms?: number;
  p99Ms?: number;
  maxMs?: number;
  /** The first, before anything is prepared. */
  coldMs?: number;
  /** Until the first words of an answer. */
  firstP50Ms?: number;
  cpuMsPerCall?: number;
  /** Of the far end behind the server, with the programs it ran. */
  farCpuMsPerCall?: number;
  rssMb?: number;
  diskBytesPerCall?: number;
  syncsPerCall?: number;
  /** Events of a process. */
  eventsPerCall?: number;
  /** From the time that schedules are due until all their runs are written down, all have their message, all are answered. */
  recordedMs?: number;
  deliveredMs?: number;
  answeredMs?: number;
  /** Shares of one CPU. Throughput tells something about a server only if it is the busier side. */
  serverBusy?: number;
  loadBusy?: number;
  kbPerConnection?: number;
  mbPerSecond?: number;
  /** By how much its memory grew, and that of the end that grew most. */
  growthMb?: number;
  farGrowthMb?: number;
};

/** The median of several rounds, field by field. */
export function middle(rounds: readonly Measure[]): Measure {
  const result: Measure = {};
  for (const field of Object.keys(rounds[0] ?? {}) as (keyof Measure)[]) result[field] = median(rounds.map((round) => round[field]!));
  return result;
}
