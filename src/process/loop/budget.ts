// How much a run and a process may use before a person is asked whether they may go on. Pure. An extension gives as much
// again: what was used by then does not count any more.

import type { Overspent, Spent } from "../../protocol/proc-records.ts";

/** What is not named is not limited. `cost` is in dollars. */
export type Limits = { modelCalls?: number; toolCalls?: number; tokens?: number; cost?: number; wallMs?: number };
export type Budget = { run: Limits; process: Limits };

/** `user` is everything its owner's processes use. */
export type BudgetScope = Overspent["scope"];
/** `since` is what had been used when the budget was last extended. */
export type Account = { total: Spent; since: Spent };

/** What has been used up, of the run first. */
export function overspent(budget: Budget, run: Account, process: Account, owner: { limits: Limits; account: Account }): Overspent[] {
  return [...over("run", budget.run, run), ...over("process", budget.process, process), ...over("user", owner.limits, owner.account)];
}

function over(scope: Overspent["scope"], limits: Limits, { total, since }: Account): Overspent[] {
  const now = amounts(total);
  const then = amounts(since);
  return LIMITS.flatMap((limit) => {
    const allowed = limits[limit];
    const used = now[limit] - then[limit];
    return allowed === undefined || used < allowed ? [] : [{ scope, limit, allowed, used }];
  });
}

const LIMITS = ["modelCalls", "toolCalls", "tokens", "cost", "wallMs"] as const;

function amounts({ modelCalls, toolCalls, wallMs, usage }: Spent): Required<Limits> {
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

/** For people. */
export function overspentText(over: readonly Overspent[]): string {
  return over.map(({ scope, limit, allowed, used }) => `${WHOSE[scope]} used ${WORDS[limit](used)} of ${WORDS[limit](allowed)}`).join("; ");
}
