// How much agents use of models, tools and time, and how to add it up.

import type { Spent, Usage } from "../protocol/proc-records.ts";

export const NO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

export const NOTHING_SPENT: Spent = { modelCalls: 0, toolCalls: 0, wallMs: 0, usage: NO_USAGE };

export function sumSpent(one: Spent, more: Partial<Spent>): Spent {
  const other = { ...NOTHING_SPENT, ...more };
  return {
    modelCalls: one.modelCalls + other.modelCalls,
    toolCalls: one.toolCalls + other.toolCalls,
    wallMs: one.wallMs + other.wallMs,
    usage: sumUsage(one.usage, other.usage),
  };
}

function sumUsage(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    totalTokens: one.totalTokens + other.totalTokens,
    ...(one.isEstimate === true || other.isEstimate === true ? { isEstimate: true } : {}),
    cost: {
      input: one.cost.input + other.cost.input,
      output: one.cost.output + other.cost.output,
      cacheRead: one.cost.cacheRead + other.cost.cacheRead,
      cacheWrite: one.cost.cacheWrite + other.cost.cacheWrite,
      total: one.cost.total + other.cost.total,
    },
  };
}
