// The welcome of a user whom an administrator added, at their first sign-in: their name, their time zone and what agents may do.
// Skipping it changes nothing.

import { useState } from "preact/hooks";
import { arrival, showStart } from "../state/arrival.ts";
import { call } from "../state/call.ts";
import { mayCall, session, username } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ChosenZone } from "./chosen-zone.tsx";
import { timezoneKey, rememberWelcome } from "./first-sign-in.ts";
import { AgentRights } from "./agent-rights.tsx";
import { PlaceSearch } from "./place-search.tsx";

export function NewUserWelcome() {
  const operation = useOperation();
  const [zone, setZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC");
  const [now] = useState(() => Date.now());
  const uid = session.value!.identity.process.uid;
  const mayChoose = mayCall("sys.config.set");
  const close = () => {
    rememberWelcome(uid);
    arrival.value = null;
  };
  const save = () =>
    operation.run(async () => {
      if (mayChoose) await call("sys.config.set", { key: timezoneKey(uid), value: zone });
      rememberWelcome(uid);
      showStart();
    });
  return (
    <Dialog
      title={`Welcome, ${username.value}`}
      onClose={close}
      actions={
        <>
          <Button look="quiet" disabled={operation.isBusy} onClick={close}>
            Skip
          </Button>
          <Button look="primary" busy={operation.isBusy} onClick={() => void save()}>
            Continue
          </Button>
        </>
      }
    >
      <div class="greeting">
        <p>
          You sign in as <b>{username.value}</b>. Your agents, conversations, files and machines are your own: other users do not see them
          unless you share them. The administrator can.
        </p>
        {mayChoose && (
          <div class="stack-close">
            <h3>Your time zone</h3>
            <ChosenZone zone={zone} now={now} />
            <PlaceSearch error={null} now={now} onZone={setZone} />
          </div>
        )}
        <div class="stack-close">
          <h3>What agents may do</h3>
          <AgentRights />
          <p class="soft small">This is the default. You can change it in Settings.</p>
        </div>
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      </div>
    </Dialog>
  );
}
