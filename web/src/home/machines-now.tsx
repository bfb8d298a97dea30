// The machines with their state, online ones first.

import { makeVisible } from "../../../src/approval/visible.ts";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";
import { Link } from "../frame/link.tsx";
import { joinPath } from "../frame/route.ts";
import { MachineLoad } from "../machines/machine-load.tsx";
import { systemName } from "../machines/system-name.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { mayCall, session } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Card } from "../ui/card.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";

const SHOWN_MAX = 5;
const isDeviceChange = makeChangeFilter("devices");

export function MachinesNow() {
  const ownUid = session.value?.identity.process.uid;
  const devices = useLatest("sys.device.list", { includeOffline: true }, (sent) => sent.signal === DEVICE_STATUS || isDeviceChange(sent));
  return (
    <Card title="Machines" actions={<Link to="/machines">All machines</Link>}>
      <Loaded latest={devices} label="Loading your machines">
        {({ devices }) =>
          devices.length === 0 ? (
            <>
              {mayCall("sys.vitals") && <MachineLoad target="gsv" isShort />}
              <p class="home-quiet">
                Only the gateway so far. <Link to="/machines/add">Add a machine</Link>
              </p>
            </>
          ) : (
            <ul class="home-list">
              {devices
                .toSorted((a, b) => Number(b.online) - Number(a.online))
                .slice(0, SHOWN_MAX)
                .map(({ deviceId, ownerUid, online, platform, lastSeenAt }) => (
                  <li key={deviceId}>
                    <Link class="home-row" to={joinPath("machines", "device", deviceId)}>
                      <span class="home-row-icon" data-tone={online ? "good" : "plain"}>
                        <Icon name="machine" />
                      </span>
                      <span class="home-row-words">
                        <span class="home-row-title">{makeVisible(deviceId)}</span>
                        <span class="home-row-hint">
                          {[
                            systemName(platform),
                            ...(ownerUid === ownUid ? [] : [ownUid === 0 ? `of user ${ownerUid}` : "shared with you"]),
                          ].join(", ")}
                        </span>
                      </span>
                      <span class="home-row-when">
                        {online ? (
                          "Online"
                        ) : (
                          <>
                            Offline, seen <Time at={lastSeenAt} />
                          </>
                        )}
                      </span>
                    </Link>
                    {online && mayCall("sys.vitals") && (
                      <div class="home-load">
                        <MachineLoad target={deviceId} isShort />
                      </div>
                    )}
                  </li>
                ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
