// The page of one machine: its state and load, what runs there, its description, who may use it, its tokens, and its removal.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { allows } from "../../../src/lib/capability.ts";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";
import { Link } from "../frame/link.tsx";
import { go, type PaneName, joinPath } from "../frame/route.ts";
import { usePaneTitle } from "../frame/titles.ts";
import type { Result } from "../state/call.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { mayCall, session } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";
import { AskAbout } from "./ask-about.tsx";
import { Fact, formatUptime } from "./fact.tsx";
import { ForgetDialog } from "./forget-dialog.tsx";
import { MachineDescription } from "./machine-description.tsx";
import { OnlineBadge } from "./machine-list.tsx";
import { LoadGauges, type MachineVitals, useVitals } from "./machine-load.tsx";
import { MachineSharing } from "./machine-sharing.tsx";
import { MachineTokens } from "./machine-tokens.tsx";
import { RunningCommands } from "./running-commands.tsx";
import { systemName } from "./system-name.ts";

type Device = NonNullable<Result<"sys.device.get">["device"]>;
type DeviceProps = { device: Device; address: string | null; pane: PaneName };

const isDeviceChange = makeChangeFilter("devices");

export function Machine({ deviceId, pane }: { deviceId: string; pane: PaneName }) {
  const latest = useLatest("sys.device.get", { deviceId }, (sent) => sent.signal === DEVICE_STATUS || isDeviceChange(sent));
  usePaneTitle(makeVisible(deviceId));
  const refetch = () => void latest.refetch();
  return (
    <div class="machines">
      <Link class="back" to={joinPath("machines")}>
        <Icon name="back" />
        All machines
      </Link>
      <Loaded latest={latest} label={`Loading ${makeVisible(deviceId)}`}>
        {({ device, gids, address = null }) =>
          device === null ? (
            <EmptyState icon="machine" title="There is no such machine" text="It was forgotten, or it is not shared with you." />
          ) : (
            <>
              <Status device={device} address={address} pane={pane} />
              {device.online && mayCall("shell.list") && <RunningCommands target={device.deviceId} />}
              <Card title="Description" text="Agents read this to choose the right machine.">
                <MachineDescription device={device} mayEdit={gids !== undefined} onSaved={refetch} />
              </Card>
              {gids !== undefined && (
                <>
                  <Card title="Sharing" text="Members of a group can read all files and run all commands that the machine's own user can.">
                    <MachineSharing deviceId={deviceId} gids={gids} onChanged={refetch} />
                  </Card>
                  <MachineTokens deviceId={deviceId} ownerUid={device.ownerUid} pane={pane} />
                  <ForgetCard device={device} pane={pane} />
                </>
              )}
            </>
          )
        }
      </Loaded>
    </div>
  );
}

function Status(props: DeviceProps) {
  const { device, pane } = props;
  const { online, deviceId } = device;
  const isMeasured = online && mayCall("sys.vitals") && allows(device.implements, "sys.vitals");
  return (
    <Card
      title="Status"
      actions={
        <>
          <OnlineBadge online={online} />
          {online && <AskAbout machine={deviceId} pane={pane} />}
        </>
      }
    >
      {!online && <OfflineAdvice device={device} />}
      {isMeasured ? <MeasuredFacts {...props} /> : <Facts {...props} vitals={null} />}
      {online && !isMeasured && mayCall("sys.vitals") && (
        <p class="soft small">
          It runs an older GSV, which does not report its load. To update it, run a new install command on it (under Access).
        </p>
      )}
    </Card>
  );
}

function OfflineAdvice({ device: { deviceId, disconnectedAt, lastSeenAt, platform } }: { device: Device }) {
  // On Windows there is no service yet that connects it.
  const command = platform === "win32" ? "gsv device run" : "gsv device status";
  return (
    <Banner tone="warn">
      {makeVisible(deviceId)} went offline <Time at={disconnectedAt ?? lastSeenAt} />. Turn it on and check its network: it reconnects by
      itself. If it does not, run <code>{command}</code> on it.
    </Banner>
  );
}

function MeasuredFacts(props: DeviceProps) {
  const vitals = useVitals(props.device.deviceId);
  const measured = vitals.value.value;
  return (
    <>
      {measured !== null && <LoadGauges vitals={measured} />}
      {measured === null && vitals.problem.value !== null && (
        <p class="soft small">Its load is not known: {makeVisible(vitals.problem.value)}</p>
      )}
      <Facts {...props} vitals={measured} />
    </>
  );
}

function Facts({ device, address, vitals }: DeviceProps & { vitals: MachineVitals | null }) {
  const { online, lastSeenAt, connectedAt, firstSeenAt, platform, version, ownerUid, implements: does } = device;
  const isOwn = ownerUid === session.value?.identity.process.uid;
  return (
    <dl class="facts">
      <Fact name="System">
        {vitals === null ? systemName(platform) : makeVisible(vitals.system)}
        {vitals?.arch != null && `, ${makeVisible(vitals.arch)}`}
      </Fact>
      {vitals?.cpuCount != null && <Fact name="Processors">{vitals.cpuCount}</Fact>}
      {vitals?.uptimeMs != null && <Fact name="Running for">{formatUptime(vitals.uptimeMs)}</Fact>}
      {address !== null && <Fact name="Connects from">{makeVisible(address)}</Fact>}
      <Fact name={online ? "Connected" : "Last seen"}>
        <Time at={online && connectedAt !== null ? connectedAt : lastSeenAt} />
      </Fact>
      <Fact name="First seen">
        <Time at={firstSeenAt} />
      </Fact>
      <Fact name="GSV">{makeVisible(version) || "unknown version"}</Fact>
      <Fact name="Owner">{isOwn ? "you" : `user ${ownerUid}`}</Fact>
      <Fact name="Agents can use">{describeAbilities(does)}</Fact>
    </dl>
  );
}

function ForgetCard({ device: { deviceId, ownerUid }, pane }: { device: Device; pane: PaneName }) {
  const [isForgetting, setForgetting] = useState(false);
  return (
    <Card
      title="Forget this machine"
      text="It disappears from GSV. Nothing on the machine itself is removed."
      actions={
        <Button look="danger" onClick={() => setForgetting(true)}>
          Forget…
        </Button>
      }
    >
      {isForgetting && (
        <ForgetDialog
          deviceId={deviceId}
          ownerUid={ownerUid}
          onClose={() => setForgetting(false)}
          onForgotten={() => go(joinPath("machines"), { pane })}
        />
      )}
    </Card>
  );
}

function describeAbilities(does: readonly string[]): string {
  const abilities = [allows(does, "fs.read") && "files", allows(does, "shell.exec") && "commands"].filter((one) => one !== false);
  return abilities.length === 0 ? "nothing" : abilities.join(" and ");
}
