// Middle values and percentiles.

/** Reorders `values`. */
export function percentile(values: Float64Array | number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  if (Array.isArray(values)) values.sort((a, b) => a - b);
  else values.sort();
  return values[Math.min(values.length - 1, Math.floor(values.length * share))]!;
}

export function median(values: readonly number[]): number {
  return percentile([...values], 0.5);
}

/** What was measured of one server; a field is there where it was measured. */
export type Measure = {
  perSecond?: number;
  p50Ms?: number;
  p99Ms?: number;
  cpuMsPerCall?: number;
  /** Of what is at the other end of the server, with the programs it ran. */
  farCpuMsPerCall?: number;
  rssMb?: number;
  diskBytesPerCall?: number;
  /** Shares of one processor. Throughput says something of a server only where it is the busier side. */
  serverBusy?: number;
  loadBusy?: number;
  kbPerConnection?: number;
  mbPerSecond?: number;
  /** By how much its memory grew, and that of the end which grew more. */
  growthMb?: number;
  farGrowthMb?: number;
};

/** Field by field the median of several rounds. */
export function middle(rounds: readonly Measure[]): Measure {
  const result: Measure = {};
  for (const field of Object.keys(rounds[0] ?? {}) as (keyof Measure)[]) result[field] = median(rounds.map((round) => round[field]!));
  return result;
}
