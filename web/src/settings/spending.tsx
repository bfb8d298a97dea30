// What agents have used in the last days, as a bar chart of plain elements with a text alternative for each bar.

import { useLatest } from "../state/use-latest.ts";
import type { Result } from "../state/call.ts";
import { Card } from "../ui/card.tsx";
import { formatDate } from "../ui/format-time.ts";
import { Loaded } from "../ui/loaded.tsx";
import { RUN_FINISHED } from "../../../src/protocol/signal-names.ts";

type Day = Result<"proc.spending">["days"][number];

const DAYS = 14;
const DAY_MS = 24 * 60 * 60 * 1000;
const number = new Intl.NumberFormat("en");
const money = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumFractionDigits: 4 });

export function Spending() {
  const spending = useLatest("proc.spending", { days: DAYS }, ({ signal }) => signal === RUN_FINISHED);
  return (
    <Card title="Usage" text={`Tokens of your agents in the last ${DAYS} days.`}>
      <Loaded latest={spending} label="Loading usage">
        {({ days }) => <Bars days={fillDays(days)} />}
      </Loaded>
    </Card>
  );
}

function Bars({ days }: { days: readonly { day: string; spent: Day["spent"] | null }[] }) {
  const maxTokens = Math.max(1, ...days.map(({ spent }) => spent?.usage.totalTokens ?? 0));
  const spent = days.flatMap((one) => one.spent ?? []);
  const total = spent.reduce((sum, { usage }) => sum + usage.totalTokens, 0);
  if (total === 0 && spent.length === 0) return <p>No usage yet.</p>;
  const cost = spent.reduce((sum, { usage }) => sum + usage.cost.total, 0);
  return (
    <>
      <ol class="spending">
        {days.map(({ day, spent }) => {
          const tokens = spent?.usage.totalTokens ?? 0;
          const words = `${formatDate(Date.parse(day))}: ${formatCount(tokens, "token")}, ${formatCount(spent?.modelCalls ?? 0, "answer")}, ${formatCount(spent?.toolCalls ?? 0, "tool call")}`;
          return (
            <li class="spending-day" key={day} title={words}>
              <span class="unseen">{words}</span>
              <span
                class={tokens === 0 ? "spending-bar spending-none" : "spending-bar"}
                style={{ height: `${Math.round((tokens / maxTokens) * 100)}%` }}
                aria-hidden="true"
              />
            </li>
          );
        })}
      </ol>
      <p class="spending-ends" aria-hidden="true">
        <span>{days.length > 0 && formatDate(Date.parse(days[0]!.day))}</span>
        <span>today</span>
      </p>
      <p>
        {formatCount(total, "token")}
        {cost > 0 && `, ${money.format(cost)}`},{" "}
        {formatCount(
          spent.reduce((sum, { modelCalls }) => sum + modelCalls, 0),
          "answer",
        )}
        ,{" "}
        {formatCount(
          spent.reduce((sum, { toolCalls }) => sum + toolCalls, 0),
          "tool call",
        )}
        .
      </p>
    </>
  );
}

/** Every day up to today, oldest first, including days without usage. */
function fillDays(days: readonly Day[]): { day: string; spent: Day["spent"] | null }[] {
  const spentByDay = new Map(days.map(({ day, spent }) => [day, spent]));
  return Array.from({ length: DAYS }, (_, back) => {
    const day = new Date(Date.now() - (DAYS - 1 - back) * DAY_MS).toISOString().slice(0, 10);
    return { day, spent: spentByDay.get(day) ?? null };
  });
}

function formatCount(count: number, one: string): string {
  return `${number.format(count)} ${one}${count === 1 ? "" : "s"}`;
}
