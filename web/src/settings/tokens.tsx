// The user's valid tokens: what each is for, when it was used, and a button to revoke it. Root can show those of all users.

import { useState } from "preact/hooks";
import { isTokenLive } from "../../../src/lib/token-end.ts";
import { useActions } from "../frame/actions.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { mayCall, session } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Checkbox } from "../ui/choice.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Setting } from "./setting.tsx";
import { NewToken } from "./new-token.tsx";
import { TokenEntry } from "./token-entry.tsx";

export function Tokens() {
  const tokens = useLatest("sys.token.list", {}, makeChangeFilter("tokens"));
  const [isCreating, setCreating] = useState(false);
  const [withOthers, setWithOthers] = useState(false);
  const uid = session.value?.identity.process.uid;
  useActions(() => [{ id: "tokens.new", title: "New access token", group: "Settings", run: () => setCreating(true) }], []);
  return (
    <>
      <Setting anchor="tokens">
        <Card
          title="Access tokens"
          text="Access tokens for browsers, machines and scripts."
          actions={
            mayCall("sys.token.create") && (
              <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
                New token
              </Button>
            )
          }
        >
          <Loaded latest={tokens} label="Loading tokens">
            {({ tokens: all }) => {
              const valid = all.filter((token) => isTokenLive(token, Date.now()));
              const shown = valid.filter((token) => withOthers || token.uid === uid);
              return (
                <>
                  {valid.some((token) => token.uid !== uid) && (
                    <Checkbox label="Show tokens of other users, too" checked={withOthers} onChecked={setWithOthers} />
                  )}
                  {shown.length === 0 ? (
                    <p>No access tokens: you signed in with your password.</p>
                  ) : (
                    <ul class="entries">
                      {shown.map((token) => (
                        <TokenEntry
                          key={token.tokenId}
                          token={token}
                          {...(token.uid === uid ? {} : { owner: `User ${token.uid}` })}
                          onRevoked={() => void tokens.refetch()}
                        />
                      ))}
                    </ul>
                  )}
                </>
              );
            }}
          </Loaded>
        </Card>
      </Setting>
      {isCreating && <NewToken onClose={() => setCreating(false)} onCreated={() => void tokens.refetch()} />}
    </>
  );
}
