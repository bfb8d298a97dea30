// Model servers that answer at the usual ports of the gateway's machine. Each is asked by a real, short request.

import { useEffect, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { formatDuration } from "../ui/format-duration.ts";
import { LOCAL_SERVERS } from "../models/providers.ts";
import { call, type Result } from "../state/call.ts";
import { useOperation } from "../state/use-operation.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";

type Check = Result<"ai.check">["check"];

const CHECK_TIMEOUT_MS = 120_000;

type FoundServersProps = { selected: string; isSearchingAtOnce: boolean; onSelect: (found: Check) => void };

export function FoundServers({ selected, isSearchingAtOnce, onSelect }: FoundServersProps) {
  const [found, setFound] = useState<readonly Check[] | null>(null);
  const operation = useOperation();
  const find = () =>
    operation.run(async () => {
      const checks = await Promise.all(
        LOCAL_SERVERS.map(({ id }) => call("ai.check", { provider: id, model: "", baseUrl: "" }, { timeoutMs: CHECK_TIMEOUT_MS })),
      );
      setFound(checks.map(({ check }) => check).filter(({ ok, models }) => ok || models !== null));
    });
  useEffect(() => {
    if (isSearchingAtOnce) void find();
  }, []);
  return (
    <div class="stack">
      <div class="row">
        <strong>Servers on the gateway&rsquo;s machine</strong>
        <Button icon="refresh" look="quiet" busy={operation.isBusy} onClick={() => void find()}>
          {operation.isBusy ? "Searching" : found === null ? "Search" : "Search again"}
        </Button>
      </div>
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      {found !== null && found.length === 0 && (
        <p class="soft">
          No server answers at the usual ports ({LOCAL_SERVERS.map(({ title, port }) => `${title} ${port}`).join(", ")}). Start one and
          search again, or enter an address.
        </p>
      )}
      {found !== null && found.length > 0 && (
        <ul class="entries">
          {found.map((one) => (
            <li class="entry" key={one.provider}>
              <div class="entry-words">
                <strong>{makeVisible(one.title)}</strong>
                <span class="soft small">{describeServer(one)}</span>
              </div>
              {one.provider === selected ? (
                <Badge tone="accent">Selected</Badge>
              ) : (
                <Button aria-label={`Use ${makeVisible(one.title)}`} onClick={() => onSelect(one)}>
                  Use
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function describeServer({ ok, models, model, ms, problem }: Check): string {
  if (!ok) return makeVisible(problem?.message ?? "It does not answer.");
  const count = models?.length ?? 0;
  return `${count === 1 ? "1 model" : `${count} models`} · ${makeVisible(model)} answered in ${formatDuration(ms ?? 0)}`;
}
