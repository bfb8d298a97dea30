// The first machine: only its name now. The line that connects it comes when there is somebody it can belong to.

import { Checkbox } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { change, draft } from "./draft.ts";
import { Filled } from "./filled.tsx";
import type { StepProps } from "./step-props.ts";

export function MachineStep({ errorOf }: StepProps) {
  const { hasDevice, deviceId, expiryDays } = draft.value;
  return (
    <>
      <p class="soft">
        Agents work on machines that you connect: they read files and run commands there, and ask you first. You can connect more at any
        time.
      </p>
      <Filled field="hasDevice">
        <Checkbox
          label="Connect a machine after set-up"
          hint="You get one line to paste into its terminal."
          checked={hasDevice}
          onChecked={(yes) => change({ hasDevice: yes, ...(yes && deviceId === "" ? { deviceId: "laptop" } : {}) })}
        />
      </Filled>
      {hasDevice && (
        <>
          <Filled field="deviceId">
            <TextInput
              label="Its name"
              hint="How you and your agents call it, such as laptop."
              error={errorOf("deviceId")}
              name="deviceId"
              autocapitalize="none"
              maxLength={64}
              value={deviceId}
              onValue={(typed) => change({ deviceId: typed.trim() })}
            />
          </Filled>
          <Filled field="expiryDays">
            <TextInput
              label="Days until it must be connected anew"
              hint="Empty: it stays connected for as long as it is used."
              error={errorOf("expiryDays")}
              name="expiryDays"
              inputMode="numeric"
              maxLength={4}
              value={expiryDays}
              onValue={(typed) => change({ expiryDays: typed.trim() })}
            />
          </Filled>
        </>
      )}
    </>
  );
}
