// Which groups may use a machine, for those who may change that.

import { useState } from "preact/hooks";
import { call } from "../state/call.ts";
import { session } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { type Group, useGroups } from "../state/use-groups.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/choice.tsx";

/** Gids from 1000 are private groups of users, and those below 100 are system groups. */
const PRIVATE_GID_MIN = 1000;
const SHARED_GID_MIN = 100;

export function MachineSharing({ deviceId, gids, onChanged }: { deviceId: string; gids: readonly number[]; onChanged: () => void }) {
  const groups = useGroups(gids);
  const [selected, setSelected] = useState("");
  const operation = useOperation();
  const change = async (name: "sys.device.grant" | "sys.device.revoke", gid: number) => {
    if (await operation.run(() => call(name, { deviceId, gid }))) onChanged();
  };
  const { gids: own = [], uid } = session.value?.identity.process ?? {};
  const selectable = groups.filter(
    ({ gid }) => gid >= SHARED_GID_MIN && gid < PRIVATE_GID_MIN && !gids.includes(gid) && (uid === 0 || own.includes(gid)),
  );
  const gid = selectable.some((group) => String(group.gid) === selected) ? selected : String(selectable[0]?.gid ?? "");
  return (
    <div class="stack">
      {gids.length === 0 ? (
        <p>Only its owner and the administrator can use it.</p>
      ) : (
        <ul class="entries">
          {gids.map((one) => (
            <li class="entry" key={one}>
              <div class="entry-words">{groupName(groups, one)}</div>
              <Button
                busy={operation.isBusy}
                aria-label={`Stop sharing with ${groupName(groups, one)}`}
                onClick={() => void change("sys.device.revoke", one)}
              >
                Stop sharing
              </Button>
            </li>
          ))}
        </ul>
      )}
      {selectable.length > 0 && (
        <div class="inline-form">
          <Select
            label="Share with a group"
            value={gid}
            options={selectable.map((group) => ({ value: String(group.gid), label: group.name }))}
            onValue={setSelected}
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

function groupName(groups: readonly Group[], gid: number): string {
  const name = groups.find((group) => group.gid === gid)?.name;
  return name === undefined ? `Group ${gid}` : `Group ${name}`;
}
