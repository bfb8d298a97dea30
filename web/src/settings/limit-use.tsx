// What was used of a limit so far: a bar for each limit that is set, else the amounts.

import { RUN_FINISHED } from "../../../src/protocol/signal-names.ts";
import type { Result } from "../state/call.ts";
import { useLatest } from "../state/use-latest.ts";
import { Progress } from "../ui/progress.tsx";
import { limitInForce, type LimitScope } from "./limit-fields.ts";
import type { Layer } from "./settings-layer.ts";

type Spent = Result<"proc.spending">["days"][number]["spent"];

const number = new Intl.NumberFormat("en");
const money = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumFractionDigits: 4 });

export function LimitUse({ scope, stored, inherited }: { scope: LimitScope; stored: Layer; inherited: Layer }) {
  if (scope === "run") return <p class="soft small">Counted anew for every message.</p>;
  const Use = scope === "user" ? UseToday : UseOfPersonalAgent;
  return <Use stored={stored} inherited={inherited} />;
}

type UseProps = { stored: Layer; inherited: Layer };

function UseToday(layers: UseProps) {
  const spending = useLatest("proc.spending", { days: 1 }, ({ signal }) => signal === RUN_FINISHED);
  const { value } = spending.value;
  if (value === null) return null;
  const today = new Date().toISOString().slice(0, 10);
  return <Bars {...layers} scope="user" label="Today" spent={value.days.find(({ day }) => day === today)?.spent ?? null} />;
}

function UseOfPersonalAgent(layers: UseProps) {
  const usage = useLatest("proc.usage", {}, ({ signal }) => signal === RUN_FINISHED);
  const { value } = usage.value;
  return value === null ? null : <Bars {...layers} scope="process" label="Personal agent" spent={value.spent} />;
}

function Bars({ stored, inherited, scope, label, spent }: UseProps & { scope: LimitScope; label: string; spent: Spent | null }) {
  const cost = spent?.usage.cost.total ?? 0;
  const tokens = spent?.usage.totalTokens ?? 0;
  const maxCost = limitInForce(stored, inherited, scope, "cost");
  const maxTokens = limitInForce(stored, inherited, scope, "tokens");
  return (
    <div class="stack limit-use">
      {maxCost !== null && (
        <Progress label={label} value={share(cost, maxCost)} words={`${money.format(cost)} of ${money.format(maxCost)}`} />
      )}
      {maxTokens !== null && (
        <Progress label={label} value={share(tokens, maxTokens)} words={`${number.format(tokens)} of ${number.format(maxTokens)} tokens`} />
      )}
      {maxCost === null && maxTokens === null && (
        <p class="soft small">
          {label}: {money.format(cost)}, {number.format(tokens)} tokens
        </p>
      )}
    </div>
  );
}

function share(used: number, limit: number): number {
  return limit === 0 ? 1 : Math.min(1, used / limit);
}
