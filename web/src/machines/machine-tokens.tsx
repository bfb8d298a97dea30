// The valid tokens that are bound to one machine.

import { isTokenLive } from "../../../src/lib/token-end.ts";
import { go, type PaneName, joinPath } from "../frame/route.ts";
import { TokenEntry } from "../settings/token-entry.tsx";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { session } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Loaded } from "../ui/loaded.tsx";

export function MachineTokens({ deviceId, ownerUid, pane }: { deviceId: string; ownerUid: number; pane: PaneName }) {
  const tokens = useLatest("sys.token.list", { uid: ownerUid }, makeChangeFilter("tokens"));
  const isOwn = ownerUid === session.value?.identity.process.uid;
  return (
    <Card
      title="Access"
      text="Tokens with which this machine connects. Each is valid only for this name."
      actions={isOwn && <Button onClick={() => go(joinPath("machines", "add", deviceId), { pane })}>New install command</Button>}
    >
      <Loaded latest={tokens} label="Loading its tokens">
        {({ tokens: all }) => {
          const deviceTokens = all.filter((token) => token.allowedDeviceId === deviceId && isTokenLive(token, Date.now()));
          if (deviceTokens.length === 0)
            return <p>No token is bound to it. It connected with a token for any machine: see Settings, Access tokens.</p>;
          return (
            <ul class="entries">
              {deviceTokens.map((token) => (
                <TokenEntry key={token.tokenId} token={token} onRevoked={() => void tokens.refetch()} />
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
}
