// How much a run, a process and all processes of a user may use, from config/ai/budget/<scope>/<limit> and the user's own
// users/<uid>/ai/budget/<scope>/<limit>: where both are set, the stricter counts, so nobody gives themselves more than root does.

import type { Budget, BudgetScope, Limits } from "../../process/loop/budget.ts";
import type { ConfigReads } from "../nouns/config.ts";
import { Settings, wholeNumber } from "./read-setting.ts";

export type Budgets = Budget & { user: Limits; problems: readonly string[] };

/** Where nobody set anything: a run that goes in circles stops and asks. */
const RUN_DEFAULTS: Limits = { modelCalls: 200, toolCalls: 500, wallMs: 4 * 60 * 60 * 1000 };
const DEFAULTS: Record<BudgetScope, Limits> = { run: RUN_DEFAULTS, process: {}, user: {} };

/** Takes a default away; of a user, what root set stays. */
const UNLIMITED = "unlimited";

const count = wholeNumber(0, Number.MAX_SAFE_INTEGER);
const NAMES: Record<keyof Limits, { name: string; read: (text: string) => number | null; means: string }> = {
  modelCalls: { name: "model_calls", read: count, means: "a whole number" },
  toolCalls: { name: "tool_calls", read: count, means: "a whole number" },
  tokens: { name: "tokens", read: count, means: "a whole number" },
  cost: { name: "cost", read: dollars, means: "an amount in dollars like 2.50" },
  wallMs: { name: "wall_ms", read: count, means: "a whole number of milliseconds" },
};

export function budgetsOf(config: Pick<ConfigReads, "get">, uid: number): Budgets {
  const settings = new Settings(config, uid);
  return {
    run: limitsOf(settings, "run"),
    process: limitsOf(settings, "process"),
    user: limitsOf(settings, "user"),
    problems: settings.problems,
  };
}

function limitsOf(settings: Settings, scope: BudgetScope): Limits {
  const limits: Limits = {};
  for (const limit of Object.keys(NAMES) as (keyof Limits)[]) {
    const { name, read, means } = NAMES[limit];
    const key = `budget/${scope}/${name}`;
    const orUnlimited = (text: string) => (text === UNLIMITED ? Infinity : read(text));
    const said = [settings.readOwn(key, orUnlimited, means), settings.readSystem(key, orUnlimited, means)].filter((one) => one !== null);
    const allowed = said.length === 0 ? DEFAULTS[scope][limit] : Math.min(...said);
    if (allowed !== undefined && allowed !== Infinity) limits[limit] = allowed;
  }
  return limits;
}

function dollars(text: string): number | null {
  return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : null;
}
