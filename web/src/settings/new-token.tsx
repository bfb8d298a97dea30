// The dialog that creates a token and shows it once.

import { useId, useState } from "preact/hooks";
import { call } from "../state/call.ts";
import { readBrowserToken } from "../state/browser-token.ts";
import { session } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { formatRelativeTime } from "../ui/relative-time.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Radio, Select } from "../ui/choice.tsx";
import { Code } from "../ui/code.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextInput } from "../ui/field.tsx";
import type { Token } from "./token-entry.tsx";

const DAY_MS = 24 * 60 * 60 * 1000;
const DURATIONS = [
  { value: "1", label: "After a day" },
  { value: "30", label: "After 30 days" },
  { value: "90", label: "After 90 days" },
  { value: "365", label: "After a year" },
];
/** As long as this browser's token: no user token may outlive the token it was created with. */
const SAME_AS_THIS = "this";
const WHILE_USED = { value: "used", label: "While it is used, and a year after that" };

export function NewToken({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [kind, setKind] = useState<Token["kind"]>("user");
  const [label, setLabel] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const [createdToken, setCreatedToken] = useState<string | null>(null);
  const form = useId();
  const operation = useOperation();
  const end = kind === "user" ? (readBrowserToken()?.expiresAt ?? Infinity) : Infinity;
  const options = DURATIONS.filter(({ value }) => Date.now() + Number(value) * DAY_MS < end);
  if (end !== Infinity)
    options.push({ value: SAME_AS_THIS, label: `When you are signed out here, ${formatRelativeTime(end, Date.now())}` });
  else options.push(WHILE_USED);
  const defaultDuration = kind === "user" ? "90" : WHILE_USED.value;
  const duration = [chosen, defaultDuration, options.at(-1)!.value].find((wanted) => options.some(({ value }) => value === wanted))!;
  const create = () =>
    operation.run(async () => {
      const expiry =
        duration === WHILE_USED.value ? {} : { expiresAt: duration === SAME_AS_THIS ? end : Date.now() + Number(duration) * DAY_MS };
      const name = label.trim();
      const { token } = await call("sys.token.create", { kind, ...expiry, ...(name === "" ? {} : { label: name }) });
      setCreatedToken(token.token);
      onCreated();
    });
  if (createdToken !== null)
    return (
      <Dialog
        title="Your new token"
        onClose={onClose}
        isKept
        actions={
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <div class="stack">
          <p>Copy it now: it is not shown again. Keep it like a password.</p>
          <Code text={createdToken} label="the token" />
        </div>
      </Dialog>
    );
  const isRoot = session.value?.identity.process.uid === 0;
  return (
    <Dialog
      title="New access token"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={operation.isBusy} type="submit" form={form}>
            Create token
          </Button>
        </>
      }
    >
      <form
        id={form}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <Radio
          legend="For"
          value={kind}
          options={[
            { value: "user", label: "A browser or script", hint: "Can do everything that you can." },
            { value: "node", label: "Machines", hint: "Connects machines under any name. To add one machine, use Machines instead." },
            ...(isRoot ? [{ value: "service" as const, label: "A service", hint: "Connects a messaging channel." }] : []),
          ]}
          onValue={setKind}
        />
        <TextInput label="Name" hint="Such as backup script." value={label} onValue={setLabel} maxLength={200} autocomplete="off" />
        <Select
          label="Expires"
          {...(end === Infinity ? {} : { hint: "For a longer one, sign in on a terminal with your password: gsv token create -p" })}
          value={duration}
          options={options}
          onValue={setChosen}
        />
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      </form>
    </Dialog>
  );
}
