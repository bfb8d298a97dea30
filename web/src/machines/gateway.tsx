// The page of the gateway's own machine: its load, what runs there, and the addresses at which other machines reach it.

import { makeVisible } from "../../../src/approval/visible.ts";
import { NATIVE } from "../../../src/lib/target.ts";
import { Link } from "../frame/link.tsx";
import { joinPath, type PaneName } from "../frame/route.ts";
import { usePaneTitle } from "../frame/titles.ts";
import { mayCall } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Card } from "../ui/card.tsx";
import { Code } from "../ui/code.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";
import { AskAbout } from "./ask-about.tsx";
import { Fact, formatUptime } from "./fact.tsx";
import { LoadGauges, useVitals } from "./machine-load.tsx";
import { listAddresses } from "./addresses.ts";
import { RunningCommands } from "./running-commands.tsx";

export function Gateway({ pane }: { pane: PaneName }) {
  usePaneTitle("Gateway");
  return (
    <div class="machines">
      <Link class="back" to={joinPath("machines")}>
        <Icon name="back" />
        All machines
      </Link>
      {mayCall("sys.vitals") && <Status pane={pane} />}
      {mayCall("shell.list") && <RunningCommands target={NATIVE} />}
      {mayCall("sys.network") && <Addresses />}
    </div>
  );
}

function Status({ pane }: { pane: PaneName }) {
  const vitals = useVitals(NATIVE);
  const info = useLatest("sys.info", {}).value.value;
  return (
    <Card title="Status" actions={<AskAbout machine="the gateway" label="Ask about the gateway" pane={pane} />}>
      <Loaded latest={vitals} label="Reading the load">
        {(measured) => (
          <>
            <LoadGauges vitals={measured} />
            <dl class="facts">
              <Fact name="System">
                {makeVisible(measured.system)}
                {measured.arch !== null && `, ${makeVisible(measured.arch)}`}
              </Fact>
              {measured.cpuCount !== null && <Fact name="Processors">{measured.cpuCount}</Fact>}
              {measured.uptimeMs !== null && <Fact name="Running for">{formatUptime(measured.uptimeMs)}</Fact>}
              {info !== null && <Fact name="GSV">{makeVisible(info.version)}</Fact>}
              {info !== null && (
                <Fact name="GSV started">
                  <Time at={info.startedAt} />
                </Fact>
              )}
            </dl>
          </>
        )}
      </Loaded>
    </Card>
  );
}

function Addresses() {
  const network = useLatest("sys.network", {});
  return (
    <Card title="Addresses" text="Where browsers and machines reach this GSV.">
      <Loaded latest={network} label="Reading the addresses">
        {(facts) => {
          const addresses = listAddresses(facts, location.origin);
          return (
            <div class="stack">
              {facts.listensOn === "loopback" && facts.origins.length === 0 && (
                <p>
                  Only this computer reaches it. <Link to={joinPath("machines", "add")}>Add a machine</Link> shows how to open it to others.
                </p>
              )}
              {addresses.map((address) => (
                <Code key={address} text={address} label={`the address ${address}`} />
              ))}
            </div>
          );
        }}
      </Loaded>
    </Card>
  );
}
