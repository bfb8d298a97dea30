// Which groups may use a machine, for whoever decides about it.

import { useState } from "preact/hooks";
import { call } from "../state/call.ts";
import { session } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { type Group, useGroups } from "../state/use-groups.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/choice.tsx";

/** From here on a group is the private one of a user, and below 100 they belong to the system. */
const FIRST_PRIVATE = 1000;
const FIRST_SHARED = 100;

export function Sharing({ deviceId, gids, onChanged }: { deviceId: string; gids: readonly number[]; onChanged: () => void }) {
  const groups = useGroups();
  const [chosen, setChosen] = useState("");
  const operation = useOperation();
  const change = async (name: "sys.device.grant" | "sys.device.revoke", gid: number) => {
    if (await operation.run(() => call(name, { deviceId, gid }))) onChanged();
  };
  const { gids: own = [], uid } = session.value?.identity.process ?? {};
  const offered = groups.filter(
    ({ gid }) => gid >= FIRST_SHARED && gid < FIRST_PRIVATE && !gids.includes(gid) && (uid === 0 || own.includes(gid)),
  );
  const gid = offered.some((group) => String(group.gid) === chosen) ? chosen : String(offered[0]?.gid ?? "");
  return (
    <div class="stack">
      {gids.length === 0 ? (
        <p>Only its owner and root.</p>
      ) : (
        <ul class="entries">
          {gids.map((one) => (
            <li class="entry" key={one}>
              <div class="entry-words">{named(groups, one)}</div>
              <Button
                busy={operation.isBusy}
                aria-label={`Take away from ${named(groups, one)}`}
                onClick={() => void change("sys.device.revoke", one)}
              >
                Take away
              </Button>
            </li>
          ))}
        </ul>
      )}
      {offered.length > 0 && (
        <div class="inline-form">
          <Select
            label="Share with a group"
            value={gid}
            options={offered.map((group) => ({ value: String(group.gid), label: group.name }))}
            onValue={setChosen}
          />
          <Button busy={operation.isBusy} onClick={() => void change("sys.device.grant", Number(gid))}>
            Share
          </Button>
        </div>
      )}
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
    </div>
  );
}

function named(groups: readonly Group[], gid: number): string {
  const name = groups.find((group) => group.gid === gid)?.name;
  return name === undefined ? `Group ${gid}` : `Group ${name}`;
}
