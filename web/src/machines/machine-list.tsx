// The machines that the user may use, online ones first, with their current status.

import { makeVisible } from "../../../src/approval/visible.ts";
import { useActions } from "../frame/actions.ts";
import { Link } from "../frame/link.tsx";
import { go, type PaneName, joinPath } from "../frame/route.ts";
import type { Result } from "../state/call.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { session } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";
import { systemName } from "./system-name.ts";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";

type Device = Result<"sys.device.list">["devices"][number];

const isDeviceChange = makeChangeFilter("devices");

export function MachineList({ pane }: { pane: PaneName }) {
  const devices = useLatest("sys.device.list", { includeOffline: true }, (sent) => {
    return sent.signal === DEVICE_STATUS || isDeviceChange(sent);
  });
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
        {({ devices }) =>
          devices.length === 0 ? (
            <EmptyState
              icon="machine"
              title="No machines yet"
              text="Connect a computer by pasting one line there. Agents can then read its files and run commands on it, as far as you allow."
            >
              {addButton}
            </EmptyState>
          ) : (
            <>
              <div class="machines-head">
                <p class="soft">{formatMachineCount(devices)}</p>
                {addButton}
              </div>
              <ul class="entries">
                {devices
                  .toSorted((one, other) => Number(other.online) - Number(one.online))
                  .map((device) => (
                    <MachineRow key={device.deviceId} device={device} />
                  ))}
              </ul>
            </>
          )
        }
      </Loaded>
    </div>
  );
}

function MachineRow({ device: { deviceId, ownerUid, description, platform, version, online, lastSeenAt } }: { device: Device }) {
  const isOwn = ownerUid === session.value?.identity.process.uid;
  return (
    <li>
      <Link class="machine-row" to={joinPath("machines", "device", deviceId)}>
        <span class="machine-icon">
          <Icon name="machine" />
        </span>
        <span class="entry-words">
          <span class="row">
            <strong>{makeVisible(deviceId)}</strong>
            <OnlineBadge online={online} />
            {!isOwn && <Badge>Of somebody else</Badge>}
          </span>
          {description !== "" && <span>{makeVisible(description)}</span>}
          <span class="soft small">
            {systemName(platform)}, GSV {makeVisible(version) || "of unknown version"}
            {!online && (
              <>
                , last seen <Time at={lastSeenAt} />
              </>
            )}
          </span>
        </span>
        <Icon name="right" />
      </Link>
    </li>
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
  return `${devices.length === 1 ? "1 machine" : `${devices.length} machines`}, ${online === 0 ? "none" : online} online`;
}
