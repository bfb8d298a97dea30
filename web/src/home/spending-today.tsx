// What agents have used today, and a plot of the last two weeks.

import { RUN_FINISHED } from "../../../src/protocol/signal-names.ts";
import { Link } from "../frame/link.tsx";
import type { Result } from "../state/call.ts";
import { useLatest } from "../state/use-latest.ts";
import { Card } from "../ui/card.tsx";
import { Loaded } from "../ui/loaded.tsx";

type Day = Result<"proc.spending">["days"][number];

const DAYS = 14;
const DAY_MS = 24 * 60 * 60 * 1000;
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const money = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });

export function SpendingToday() {
  const spending = useLatest("proc.spending", { days: DAYS }, ({ signal }) => signal === RUN_FINISHED);
  return (
    <Card title="Used today" actions={<Link to="/settings/limits">Limits</Link>}>
      <Loaded latest={spending} label="Loading what was used">
        {({ days }) => <Used days={days} />}
      </Loaded>
    </Card>
  );
}

function Used({ days }: { days: readonly Day[] }) {
  // The gateway counts days in UTC.
  const dayAt = (back: number) => new Date(Date.now() - back * DAY_MS).toISOString().slice(0, 10);
  const tokensOn = (day: string) => days.find((one) => one.day === day)?.spent.usage.totalTokens ?? 0;
  const today = days.find(({ day }) => day === dayAt(0))?.spent;
  const heights = Array.from({ length: DAYS }, (_, at) => tokensOn(dayAt(DAYS - 1 - at)));
  const most = Math.max(1, ...heights);
  return (
    <div class="home-used">
      <dl class="home-numbers">
        <div>
          <dt>Tokens</dt>
          <dd>{compact.format(today?.usage.totalTokens ?? 0)}</dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd>{money.format(today?.usage.cost.total ?? 0)}</dd>
        </div>
        <div>
          <dt>Actions</dt>
          <dd>{compact.format(today?.toolCalls ?? 0)}</dd>
        </div>
      </dl>
      <svg
        class="home-plot"
        viewBox={`0 0 ${DAYS * 10} 40`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Tokens in the last ${DAYS} days`}
      >
        {heights.map((tokens, at) => {
          const height = tokens === 0 ? 1 : Math.max(2, Math.round((tokens / most) * 40));
          return <rect key={at} x={at * 10 + 1} y={40 - height} width="8" height={height} data-today={at === DAYS - 1} />;
        })}
      </svg>
    </div>
  );
}
