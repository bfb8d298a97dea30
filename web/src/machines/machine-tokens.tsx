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
      title="Its tokens"
      text="With such a token, and only under this name, the machine gets in."
      actions={isOwn && <Button onClick={() => go(joinPath("machines", "add", deviceId), { pane })}>New line to paste</Button>}
    >
      <Loaded latest={tokens} label="Loading its tokens">
        {({ tokens: all }) => {
          const deviceTokens = all.filter((token) => token.allowedDeviceId === deviceId && isTokenLive(token, Date.now()));
          if (deviceTokens.length === 0)
            return <p>None is bound to it. It came in with a token for any machine: see the tokens in the settings.</p>;
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
