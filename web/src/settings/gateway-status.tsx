// The state of this gateway: facts, and checks with what to do next.

import { useEffect, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call, type Result } from "../state/call.ts";
import { connectionCount, mayCall, username } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { useLatest } from "../state/use-latest.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { Setting } from "./setting.tsx";

type Check = Result<"sys.doctor">["checks"][number];

const WORDS = { ok: "OK", warn: "Needs attention", fail: "Failed" } as const;
const TONES = { ok: "good", warn: "warn", fail: "bad" } as const;
const ORDER = { fail: 0, warn: 1, ok: 2 } as const;
const DOCTOR_TIMEOUT_MS = 120_000;
const HOST_NAMES: Readonly<Record<string, string>> = { node: "Node", cloudflare: "Cloudflare" };

export function GatewayStatus() {
  const info = useLatest("sys.info", {});
  return (
    <>
      <Setting anchor="status">
        <Card title="Status">
          <Loaded latest={info} label="Loading the status">
            {({ version, host, startedAt }) => (
              <dl class="facts">
                <Fact name="Version">{makeVisible(version)}</Fact>
                <Fact name="Runs on">{HOST_NAMES[host] ?? makeVisible(host)}</Fact>
                <Fact name="Address">{location.origin}</Fact>
                <div class="fact">
                  <dt>Started</dt>
                  <dd>
                    <Time at={startedAt} />
                  </dd>
                </div>
                <Fact name="Signed in as">{username.value}</Fact>
              </dl>
            )}
          </Loaded>
        </Card>
      </Setting>
      {mayCall("sys.doctor") && (
        <Setting anchor="checks">
          <Checks />
        </Setting>
      )}
    </>
  );
}

function Checks() {
  const [checks, setChecks] = useState<readonly Check[] | null>(null);
  const operation = useOperation();
  const runChecks = (tryModel: boolean) =>
    operation.run(async () =>
      setChecks((await call("sys.doctor", { tryModel, clientNow: Date.now() }, { timeoutMs: DOCTOR_TIMEOUT_MS })).checks),
    );
  useEffect(() => void runChecks(false), [connectionCount.value]);
  const problemCount = checks?.filter(({ state }) => state !== "ok").length ?? 0;
  return (
    <Card
      title="Checks"
      text={
        checks === null
          ? "What commonly goes wrong."
          : problemCount === 0
            ? "Everything is OK."
            : problemCount === 1
              ? "1 check needs attention."
              : `${problemCount} checks need attention.`
      }
      actions={
        <Button icon="refresh" busy={operation.isBusy} onClick={() => void runChecks(true)}>
          Run checks
        </Button>
      }
    >
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      {checks === null ? (
        operation.problem === null && <Skeleton label="Running checks" />
      ) : (
        <ul class="entries">
          {checks
            .toSorted((one, other) => ORDER[one.state] - ORDER[other.state])
            .map(({ id, title, state, says, next }) => (
              <li class="entry" key={id}>
                <div class="entry-words">
                  <p>
                    <strong>{title}</strong>
                  </p>
                  <p>{makeVisible(says)}</p>
                  {next !== null && <p class="soft">{makeVisible(next)}</p>}
                </div>
                <Badge tone={TONES[state]}>{WORDS[state]}</Badge>
              </li>
            ))}
        </ul>
      )}
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: string }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
