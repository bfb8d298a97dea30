// The page of one machine: status, description, sharing, tokens, and removal.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { go, type PaneName, joinPath } from "../frame/route.ts";
import { usePaneTitle } from "../frame/titles.ts";
import type { Result } from "../state/call.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { session } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";
import { MachineDescription } from "./machine-description.tsx";
import { ForgetDialog } from "./forget-dialog.tsx";
import { OnlineBadge } from "./machine-list.tsx";
import { MachineTokens } from "./machine-tokens.tsx";
import { MachineSharing } from "./machine-sharing.tsx";
import { systemName } from "./system-name.ts";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";

type Device = NonNullable<Result<"sys.device.get">["device"]>;

const isDeviceChange = makeChangeFilter("devices");

export function Machine({ deviceId, pane }: { deviceId: string; pane: PaneName }) {
  const [isForgetting, setForgetting] = useState(false);
  const latest = useLatest("sys.device.get", { deviceId }, (sent) => sent.signal === DEVICE_STATUS || isDeviceChange(sent));
  usePaneTitle(makeVisible(deviceId));
  const openList = () => go(joinPath("machines"), { pane });
  return (
    <div class="machines">
      <Link class="back" to={joinPath("machines")}>
        <Icon name="back" />
        All machines
      </Link>
      <Loaded latest={latest} label={`Loading ${makeVisible(deviceId)}`}>
        {({ device, gids }) =>
          device === null ? (
            <EmptyState icon="machine" title="There is no such machine" text="It was forgotten, or it is not yours to use." />
          ) : (
            <>
              <Facts device={device} />
              <Card title="What it is for" text="Agents choose a machine by these words, too.">
                <MachineDescription device={device} mayEdit={gids !== undefined} onSaved={() => void latest.refetch()} />
              </Card>
              {gids !== undefined && (
                <>
                  <Card
                    title="Who may use it"
                    text="Members of a group use it with the rights its own user has there: all files, all commands."
                  >
                    <MachineSharing deviceId={deviceId} gids={gids} onChanged={() => void latest.refetch()} />
                  </Card>
                  <MachineTokens deviceId={deviceId} ownerUid={device.ownerUid} pane={pane} />
                  <Card
                    title="Forget this machine"
                    text="It disappears from this gateway. Nothing on the machine itself is removed."
                    actions={
                      <Button look="danger" onClick={() => setForgetting(true)}>
                        Forget…
                      </Button>
                    }
                  />
                  {isForgetting && (
                    <ForgetDialog
                      deviceId={deviceId}
                      ownerUid={device.ownerUid}
                      onClose={() => setForgetting(false)}
                      onForgotten={openList}
                    />
                  )}
                </>
              )}
            </>
          )
        }
      </Loaded>
    </div>
  );
}

function Facts({ device }: { device: Device }) {
  const { online, lastSeenAt, connectedAt, firstSeenAt, platform, version, ownerUid, implements: does } = device;
  const isOwn = ownerUid === session.value?.identity.process.uid;
  return (
    <Card title="How it is" actions={<OnlineBadge online={online} />}>
      <dl class="facts">
        <Fact name={online ? "Connected" : "Last seen"}>
          <Time at={online && connectedAt !== null ? connectedAt : lastSeenAt} />
        </Fact>
        <Fact name="System">{systemName(platform)}</Fact>
        <Fact name="Version">{makeVisible(version) || "unknown"}</Fact>
        <Fact name="First seen">
          <Time at={firstSeenAt} />
        </Fact>
        <Fact name="Owner">{isOwn ? "you" : `user ${ownerUid}`}</Fact>
        <Fact name="Can do">{makeVisible(does.join(", "))}</Fact>
      </dl>
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
