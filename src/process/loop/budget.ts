// How much a run and a process may use before a person is asked whether they may continue. Pure. An extension allows the same
// amount once more: what was used by then no longer counts.

import type { Overspent, Spent } from "../../protocol/proc-records.ts";

/** An absent field means no limit. `cost` is in dollars. */
export type Limits = { modelCalls?: number; toolCalls?: number; tokens?: number; cost?: number; wallMs?: number };
export type Budget = { run: Limits; process: Limits };

/** `user` covers all processes of the owner. */
export type BudgetScope = Overspent["scope"];
/** `since` is what had been used when the budget was last extended. */
export type SpendingAccount = { total: Spent; since: Spent };

/** The limits that were reached, those of the run first. */
export function findOverspent(
  budget: Budget,
  run: SpendingAccount,
  process: SpendingAccount,
  owner: { limits: Limits; account: SpendingAccount },
): Overspent[] {
  return [
    ...exceededLimits("run", budget.run, run),
    ...exceededLimits("process", budget.process, process),
    ...exceededLimits("user", owner.limits, owner.account),
  ];
}

function exceededLimits(scope: Overspent["scope"], limits: Limits, { total, since }: SpendingAccount): Overspent[] {
  const now = amountsOf(total);
  const then = amountsOf(since);
  return LIMITS.flatMap((limit) => {
    const allowed = limits[limit];
    const used = now[limit] - then[limit];
    return allowed === undefined || used < allowed ? [] : [{ scope, limit, allowed, used }];
  });
}

const LIMITS = ["modelCalls", "toolCalls", "tokens", "cost", "wallMs"] as const;

function amountsOf({ modelCalls, toolCalls, wallMs, usage }: Spent): Required<Limits> {
  return { modelCalls, toolCalls, tokens: usage.totalTokens || usage.input + usage.output, cost: usage.cost.total, wallMs };
}

const WORDS: Record<keyof Limits, (amount: number) => string> = {
  modelCalls: (amount) => `${amount} model calls`,
  toolCalls: (amount) => `${amount} tool calls`,
  tokens: (amount) => `${amount} tokens`,
  cost: (amount) => `$${amount.toFixed(2)}`,
  wallMs: (amount) => `${Math.round(amount / 1000)} seconds`,
};

const WHOSE: Record<BudgetScope, string> = {
  run: "this run has",
  process: "this process has",
  user: "all processes of this user together have",
};

export function overspentText(over: readonly Overspent[]): string {
  return over.map(({ scope, limit, allowed, used }) => `${WHOSE[scope]} used ${WORDS[limit](used)} of ${WORDS[limit](allowed)}`).join("; ");
}
