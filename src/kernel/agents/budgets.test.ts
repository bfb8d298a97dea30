// Budgets: of root's and the user's limit, the stricter applies.

import { expect, test } from "vitest";
import { readBudgets } from "./budgets.ts";

const RUN = { modelCalls: 200, toolCalls: 2_000, wallMs: 14_400_000 };

function budgets(values: Record<string, string>) {
  return readBudgets({ get: (key) => values[key] }, 1000);
}

test("without settings, only runs have limits", () => {
  expect(budgets({})).toEqual({ run: RUN, process: {}, user: {}, problems: [] });
});

test("the stricter of root's and the user's limit applies, and either applies alone", () => {
  const { run, process, user } = budgets({
    "config/ai/budget/run/model_calls": "50",
    "users/1000/ai/budget/run/model_calls": "1000",
    "config/ai/budget/run/tool_calls": "1000",
    "users/1000/ai/budget/run/tool_calls": "20",
    "users/1000/ai/budget/run/wall_ms": "99999999",
    "config/ai/budget/process/tokens": "1000000",
    "users/1000/ai/budget/user/cost": "2.50",
    "config/ai/budget/user/cost": "10",
    "users/1001/ai/budget/user/tokens": "1",
  });
  expect(run).toEqual({ modelCalls: 50, toolCalls: 20, wallMs: 99_999_999 });
  expect(process).toEqual({ tokens: 1_000_000 });
  expect(user).toEqual({ cost: 2.5 });
});

test("unlimited removes a default, but a user cannot remove root's limit", () => {
  expect(budgets({ "config/ai/budget/run/wall_ms": "unlimited" }).run).toEqual({ modelCalls: 200, toolCalls: 2_000 });
  const { user } = budgets({ "users/1000/ai/budget/user/tokens": "unlimited", "config/ai/budget/user/tokens": "0" });
  expect(user).toEqual({ tokens: 0 });
});

test("an invalid limit is replaced by the default and reported", () => {
  const { run, user, problems } = budgets({
    "config/ai/budget/run/model_calls": "-5",
    "users/1000/ai/budget/run/tool_calls": "many",
    "config/ai/budget/user/cost": "1e3",
    "users/1000/ai/budget/user/cost": "$3",
    "config/ai/budget/user/tokens": "Infinity",
  });
  expect(run).toEqual(RUN);
  expect(user).toEqual({});
  expect(problems).toHaveLength(5);
  expect(problems).toContain("users/1000/ai/budget/user/cost is not an amount in dollars like 2.50, so it is ignored");
});
