// The gateway and the machines that the user may use, online ones first, each with its load and what runs there.

import type { ComponentChildren } from "preact";
import { makeVisible } from "../../../src/approval/visible.ts";
import { NATIVE } from "../../../src/lib/target.ts";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";
import { useActions } from "../frame/actions.ts";
import { Link } from "../frame/link.tsx";
import { go, type PaneName, joinPath, type Path } from "../frame/route.ts";
import type { Result } from "../state/call.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { mayCall, session } from "../state/session.ts";
import { type Group, useGroups } from "../state/use-groups.ts";
import { useLatest } from "../state/use-latest.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";
import { MachineLoad } from "./machine-load.tsx";
import { listRunning, useSessions } from "./running-commands.tsx";
import { systemName } from "./system-name.ts";

type Device = Result<"sys.device.list">["devices"][number];

const isDeviceChange = makeChangeFilter("devices");

export function MachineList({ pane }: { pane: PaneName }) {
  const devices = useLatest("sys.device.list", { includeOffline: true }, (sent) => {
    return sent.signal === DEVICE_STATUS || isDeviceChange(sent);
  });
  const groups = useGroups(devices.value.value?.devices.flatMap(({ gids = [] }) => gids));
  const openAddMachine = () => go(joinPath("machines", "add"), { pane });
  useActions(
    () => [{ id: "machines.add", title: "Add a machine", group: "Machines", words: "connect device computer", run: openAddMachine }],
    [pane],
  );
  const addButton = (
    <Button look="primary" icon="plus" onClick={openAddMachine}>
      Add a machine
    </Button>
  );
  return (
    <div class="machines">
      <Loaded latest={devices} label="Loading your machines">
        {({ devices }) => (
          <>
            <div class="machines-head">
              <p class="soft">{formatMachineCount(devices)}</p>
              {devices.length > 0 && addButton}
            </div>
            <ul class="machine-list">
              <GatewayRow />
              {devices
                .toSorted((one, other) => Number(other.online) - Number(one.online))
                .map((device) => (
                  <DeviceRow key={device.deviceId} device={device} groups={groups} />
                ))}
            </ul>
            {devices.length === 0 && (
              <EmptyState
                icon="machine"
                title="No other machines yet"
                text="Add your laptop or a server with one command. Agents can then read its files. They ask before they run commands or change anything."
              >
                {addButton}
              </EmptyState>
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}

function GatewayRow() {
  const info = useLatest("sys.info", {}).value.value;
  return (
    <Row
      to={joinPath("machines", "gateway")}
      name="Gateway"
      badges={<Badge tone="accent">This GSV</Badge>}
      description={null}
      facts={info !== null && `GSV ${makeVisible(info.version)}`}
      live={<Live target={NATIVE} />}
    />
  );
}

function DeviceRow({ device, groups }: { device: Device; groups: readonly Group[] }) {
  const { deviceId, ownerUid, description, platform, version, online, lastSeenAt, gids = [] } = device;
  const isOwn = ownerUid === session.value?.identity.process.uid;
  const sharedWith = gids.map((gid) => makeVisible(groups.find((group) => group.gid === gid)?.name ?? `group ${gid}`));
  return (
    <Row
      to={joinPath("machines", "device", deviceId)}
      name={makeVisible(deviceId)}
      badges={
        <>
          <OnlineBadge online={online} />
          {!isOwn && <Badge>{session.value?.identity.process.uid === 0 ? `User ${ownerUid}` : "Shared with you"}</Badge>}
          {sharedWith.length > 0 && <Badge>Shared with {sharedWith.join(", ")}</Badge>}
        </>
      }
      description={description === "" ? null : makeVisible(description)}
      facts={
        <>
          {systemName(platform)}, GSV {makeVisible(version) || "of unknown version"}
          {!online && (
            <>
              , last seen <Time at={lastSeenAt} />
            </>
          )}
        </>
      }
      live={online ? <Live target={deviceId} /> : <p class="soft small">Turn it on or check its network. It reconnects by itself.</p>}
    />
  );
}

type RowProps = {
  to: Path;
  name: string;
  badges: ComponentChildren;
  description: string | null;
  facts: ComponentChildren;
  live: ComponentChildren;
};

function Row({ to, name, badges, description, facts, live }: RowProps) {
  return (
    <li class="machine-row">
      <span class="machine-icon">
        <Icon name="machine" />
      </span>
      <div class="machine-row-words">
        <div class="row">
          <Link class="machine-link" to={to}>
            {name}
          </Link>
          {badges}
        </div>
        {description !== null && <p class="machine-row-description">{description}</p>}
        <p class="soft small">{facts}</p>
      </div>
      <div class="machine-row-live">{live}</div>
    </li>
  );
}

/** What a machine does now. */
function Live({ target }: { target: string }) {
  return (
    <>
      {mayCall("sys.vitals") && <MachineLoad target={target} />}
      {mayCall("shell.list") && <CommandCount target={target} />}
    </>
  );
}

function CommandCount({ target }: { target: string }) {
  const running = listRunning(useSessions(target).value.value?.sessions ?? []);
  if (running[0] === undefined) return null;
  const words = running.length === 1 ? "1 command runs" : `${running.length} commands run`;
  return (
    <span class="machine-running small">
      {words}: <code>{makeVisible(running[0].command)}</code>
    </span>
  );
}

export function OnlineBadge({ online }: { online: boolean }) {
  return (
    <Badge tone={online ? "good" : "plain"} dot={online}>
      {online ? "Online" : "Offline"}
    </Badge>
  );
}

function formatMachineCount(devices: readonly Device[]): string {
  const online = devices.filter((device) => device.online).length;
  if (devices.length === 0) return "Only the gateway so far.";
  return `${devices.length === 1 ? "1 machine" : `${devices.length} machines`}, ${online === 0 ? "none" : online} online`;
}
