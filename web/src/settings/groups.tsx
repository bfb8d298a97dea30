// Shared groups and their members. Private groups of users are left out.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call, type Result } from "../state/call.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Checkbox } from "../ui/choice.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextInput } from "../ui/field.tsx";
import type { User } from "./user-entry.tsx";

type Group = Result<"sys.group.list">["groups"][number];
type GroupsProps = { groups: readonly Group[]; users: readonly User[]; onChanged: () => void };

const PRIVATE_GID_MIN = 1000;
/** The groups of machines and services, whose rights are not for people. */
const NON_USER_GIDS = [101, 102];

export function Groups({ groups, users, onChanged }: GroupsProps) {
  const [name, setName] = useState("");
  const [editedGid, setEditedGid] = useState<number | null>(null);
  const operation = useOperation();
  const shared = groups.filter(({ gid }) => gid < PRIVATE_GID_MIN && !NON_USER_GIDS.includes(gid));
  const group = shared.find(({ gid }) => gid === editedGid);
  const create = async () => {
    if (!(await operation.run(() => call("sys.group.create", { name: name.trim() })))) return;
    setName("");
    onChanged();
  };
  return (
    <Card title="Groups" text="Machines can be shared with a group, and a group can have rights.">
      <ul class="entries">
        {shared.map(({ gid, name, members }) => (
          <li class="entry" key={gid}>
            <div class="entry-words">
              <p>
                <strong>{makeVisible(name)}</strong> <span class="soft small">{gid}</span>
              </p>
              <p class="soft small">{members.length === 0 ? "No members" : makeVisible(members.join(", "))}</p>
            </div>
            <Button aria-label={`Members of ${makeVisible(name)}`} onClick={() => setEditedGid(gid)}>
              Members
            </Button>
          </li>
        ))}
      </ul>
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") void create();
        }}
      >
        <TextInput label="New group" value={name} onValue={setName} autocomplete="off" autocapitalize="none" maxLength={64} />
        <Button type="submit" busy={operation.isBusy} disabled={name.trim() === ""}>
          Add
        </Button>
      </form>
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      {group !== undefined && (
        <MembersDialog key={group.gid} group={group} users={users} onChanged={onChanged} onClose={() => setEditedGid(null)} />
      )}
    </Card>
  );
}

type MembersProps = { group: Group; users: readonly User[]; onChanged: () => void; onClose: () => void };

function MembersDialog({ group: { gid, name, members }, users, onChanged, onClose }: MembersProps) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set(members));
  const operation = useOperation();
  const toggle = (username: string, isIn: boolean) => {
    const next = new Set(selected);
    if (isIn) next.add(username);
    else next.delete(username);
    setSelected(next);
  };
  const save = async () => {
    if (!(await operation.run(() => call("sys.group.members", { gid, members: [...selected] })))) return;
    onChanged();
    onClose();
  };
  return (
    <Dialog
      title={`Members of ${makeVisible(name)}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={operation.isBusy} onClick={() => void save()}>
            Save
          </Button>
        </>
      }
    >
      <div class="stack">
        {users.map(({ uid, username }) => (
          <Checkbox key={uid} label={makeVisible(username)} checked={selected.has(username)} onChecked={(isIn) => toggle(username, isIn)} />
        ))}
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      </div>
    </Dialog>
  );
}
