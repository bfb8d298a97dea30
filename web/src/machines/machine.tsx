// One machine: how it is now, what it is for, who may use it, what lets it in, and the way to forget it.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { go, type PaneName, joinPath } from "../frame/route.ts";
import { useTitle } from "../frame/titles.ts";
import type { Result } from "../state/call.ts";
import { matchChanges } from "../state/refetch-on.ts";
import { session } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";
import { Description } from "./description.tsx";
import { Forget } from "./forget.tsx";
import { Online } from "./list.tsx";
import { MachineTokens } from "./machine-tokens.tsx";
import { Sharing } from "./sharing.tsx";
import { systemName } from "./system-name.ts";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";

type Device = NonNullable<Result<"sys.device.get">["device"]>;

const isOfThis = matchChanges("devices");

export function Machine({ deviceId, pane }: { deviceId: string; pane: PaneName }) {
  const [isForgetting, setForgetting] = useState(false);
  const got = useLatest("sys.device.get", { deviceId }, (sent) => sent.signal === DEVICE_STATUS || isOfThis(sent));
  useTitle(makeVisible(deviceId));
  const back = () => go(joinPath("machines"), { pane });
  return (
    <div class="machines">
      <Link class="back" to={joinPath("machines")}>
        <Icon name="back" />
        All machines
      </Link>
      <Loaded latest={got} label={`Loading ${makeVisible(deviceId)}`}>
        {({ device, gids }) =>
          device === null ? (
            <EmptyState icon="machine" title="There is no such machine" text="It was forgotten, or it is not yours to use." />
          ) : (
            <>
              <Facts device={device} />
              <Card title="What it is for" text="Agents choose a machine by these words, too.">
                <Description device={device} mayEdit={gids !== undefined} onSaved={() => void got.refetch()} />
              </Card>
              {gids !== undefined && (
                <>
                  <Card
                    title="Who may use it"
                    text="Members of a group use it with the rights its own user has there: all files, all commands."
                  >
                    <Sharing deviceId={deviceId} gids={gids} onChanged={() => void got.refetch()} />
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
                    <Forget deviceId={deviceId} ownerUid={device.ownerUid} onClose={() => setForgetting(false)} onForgotten={back} />
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
    <Card title="How it is" actions={<Online online={online} />}>
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
