// How much a run, a process and all processes of a user may use, from config/ai/budget/<scope>/<limit> and the user's own
// users/<uid>/ai/budget/<scope>/<limit>. If both are set the stricter one applies, so users cannot raise the limits that root set.

import type { Budget, BudgetScope, Limits } from "../../process/loop/budget.ts";
import type { ConfigReads } from "../nouns/config.ts";
import { Settings, makeWholeNumberParser } from "./read-setting.ts";

export type Budgets = Budget & { user: Limits; problems: readonly string[] };

/** Without settings, a run that loops stops at these limits and asks. */
const RUN_DEFAULTS: Limits = { modelCalls: 200, toolCalls: 2_000, wallMs: 4 * 60 * 60 * 1000 };
const DEFAULTS: Record<BudgetScope, Limits> = { run: RUN_DEFAULTS, process: {}, user: {} };

/** Removes a default. Set by a user, it does not remove a limit of root. */
const UNLIMITED = "unlimited";

const parseCount = makeWholeNumberParser(0, Number.MAX_SAFE_INTEGER);
const NAMES: Record<keyof Limits, { name: string; read: (text: string) => number | null; means: string }> = {
  modelCalls: { name: "model_calls", read: parseCount, means: "a whole number" },
  toolCalls: { name: "tool_calls", read: parseCount, means: "a whole number" },
  tokens: { name: "tokens", read: parseCount, means: "a whole number" },
  cost: { name: "cost", read: parseDollars, means: "an amount in dollars like 2.50" },
  wallMs: { name: "wall_ms", read: parseCount, means: "a whole number of milliseconds" },
};

export function readBudgets(config: Pick<ConfigReads, "get">, uid: number): Budgets {
  const settings = new Settings(config, uid);
  return {
    run: readLimits(settings, "run"),
    process: readLimits(settings, "process"),
    user: readLimits(settings, "user"),
    problems: settings.problems,
  };
}

function readLimits(settings: Settings, scope: BudgetScope): Limits {
  const limits: Limits = {};
  for (const limit of Object.keys(NAMES) as (keyof Limits)[]) {
    const { name, read, means } = NAMES[limit];
    const key = `budget/${scope}/${name}`;
    const parse = (text: string) => (text === UNLIMITED ? Infinity : read(text));
    const values = [settings.readOwn(key, parse, means), settings.readSystem(key, parse, means)].filter((value) => value !== null);
    const allowed = values.length === 0 ? DEFAULTS[scope][limit] : Math.min(...values);
    if (allowed !== undefined && allowed !== Infinity) limits[limit] = allowed;
  }
  return limits;
}

function parseDollars(text: string): number | null {
  return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : null;
}
