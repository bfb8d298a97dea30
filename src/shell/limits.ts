// What one command may use. On Node, the thread's timeout and memory limit are the final bound. On Cloudflare the clock does not
// advance while code runs, so only counts can limit it.

import type { BashOptions } from "just-bash/browser";

export type ShellLimits = {
  counts: Omit<NonNullable<BashOptions["executionLimits"]>, "maxExecutionTimeMs">;
  /** Whether loops yield to the event loop, because other commands may share the thread. */
  givesWay: boolean;
};

const MIB = 1024 * 1024;

const SPACE = {
  maxSourceBytes: MIB,
  maxStringLength: 4 * MIB,
  maxHeredocSize: MIB,
  maxOutputSize: 4 * MIB,
  maxLiveBytes: 32 * MIB,
  maxInputBytes: 64 * MIB,
  maxArrayElements: 100_000,
  maxBraceExpansionResults: 10_000,
  maxCallDepth: 100,
  maxSubstitutionDepth: 50,
  maxFileDescriptors: 256,
} as const satisfies ShellLimits["counts"];

export const THREAD_LIMITS: ShellLimits = {
  counts: { ...SPACE, maxCommandCount: 2_000_000, maxLoopIterations: 2_000_000 },
  givesWay: false,
};

export const OBJECT_LIMITS: ShellLimits = {
  counts: {
    ...SPACE,
    maxCommandCount: 20_000,
    maxLoopIterations: 10_000,
    maxAwkIterations: 20_000,
    maxSedIterations: 20_000,
    maxJqIterations: 20_000,
  },
  givesWay: true,
};
