// The users of this gateway and their groups, for root.

import { useState } from "preact/hooks";
import { useActions } from "../frame/actions.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { useLatest } from "../state/use-latest.ts";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Groups } from "./groups.tsx";
import { Setting } from "./setting.tsx";
import { NewUser } from "./new-user.tsx";
import { UserEntry } from "./user-entry.tsx";

export function People() {
  const users = useLatest("sys.user.list", {}, makeChangeFilter("users", "groups"));
  const groups = useLatest("sys.group.list", {}, makeChangeFilter("users", "groups"));
  const [isCreating, setCreating] = useState(false);
  useActions(() => [{ id: "users.new", title: "Add a user", group: "Settings", run: () => setCreating(true) }], []);
  const refetchAll = () => {
    void users.refetch();
    void groups.refetch();
  };
  return (
    <>
      <Setting anchor="users">
        <Card
          title="Users"
          text="Each person has a home, agents and machines of their own, which others do not see."
          actions={
            <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
              Add a user
            </Button>
          }
        >
          <Loaded latest={users} label="Loading users">
            {({ users: all }) => (
              <ul class="entries">
                {all.map((user) => (
                  <UserEntry key={user.uid} user={user} onChanged={refetchAll} />
                ))}
              </ul>
            )}
          </Loaded>
        </Card>
      </Setting>
      <Setting anchor="groups">
        <Loaded latest={groups} label="Loading groups">
          {({ groups: all }) => <Groups groups={all} users={users.value.value?.users ?? []} onChanged={refetchAll} />}
        </Loaded>
      </Setting>
      {isCreating && <NewUser onClose={() => setCreating(false)} onCreated={refetchAll} />}
    </>
  );
}
