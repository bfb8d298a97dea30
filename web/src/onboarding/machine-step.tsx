// The first machine: only its name. Its install line is made after set-up, when there is a user who can own it.

import { Checkbox } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { changeDraft, draft } from "./draft.ts";
import { GuidedField } from "./guided-field.tsx";
import type { StepProps } from "./step-props.ts";

export function MachineStep({ errorOf }: StepProps) {
  const { hasDevice, deviceId, expiryDays } = draft.value;
  return (
    <>
      <p class="soft">
        Connect a laptop or server, and agents can read its files. They ask before they run commands or change anything. You can connect
        more at any time.
      </p>
      <GuidedField field="hasDevice">
        <Checkbox
          label="Connect a machine after set-up"
          hint="You get one command to paste into its terminal."
          checked={hasDevice}
          onChecked={(yes) => changeDraft({ hasDevice: yes, ...(yes && deviceId === "" ? { deviceId: "laptop" } : {}) })}
        />
      </GuidedField>
      {hasDevice && (
        <>
          <GuidedField field="deviceId">
            <TextInput
              label="Machine name"
              hint="What you and your agents call it, such as laptop."
              error={errorOf("deviceId")}
              name="deviceId"
              autocapitalize="none"
              maxLength={64}
              value={deviceId}
              onValue={(typed) => changeDraft({ deviceId: typed.trim() })}
            />
          </GuidedField>
          <GuidedField field="expiryDays">
            <TextInput
              label="Days until it must reconnect with a new command"
              hint="Leave blank for no limit."
              error={errorOf("expiryDays")}
              name="expiryDays"
              inputMode="numeric"
              maxLength={4}
              value={expiryDays}
              onValue={(typed) => changeDraft({ expiryDays: typed.trim() })}
            />
          </GuidedField>
        </>
      )}
    </>
  );
}
