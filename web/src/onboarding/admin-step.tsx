// root, the administrator: the account that can do everything here.

import { Radio } from "../ui/choice.tsx";
import { change, draft } from "./draft.ts";
import { Filled } from "./filled.tsx";
import { PasswordField } from "./password-field.tsx";
import type { StepProps } from "./step-props.ts";

export function AdminStep({ errorOf }: StepProps) {
  const { adminMode, adminPassword } = draft.value;
  return (
    <>
      <p class="soft">
        Beside you there is <b>root</b>, who adds people and changes how the gateway works. You log in as root only for that.
      </p>
      <Filled field="adminMode">
        <Radio<"same" | "custom">
          legend="The password of root"
          boxes
          value={adminMode}
          onValue={(mode) => change({ adminMode: mode })}
          options={[
            { value: "same", label: "The same as mine", hint: "Fine where you are the only one." },
            { value: "custom", label: "One of its own", hint: "Better where others have accounts, too." },
          ]}
        />
      </Filled>
      {adminMode === "custom" && (
        <PasswordField
          label="Password of root"
          name="adminPassword"
          error={errorOf("adminPassword")}
          value={adminPassword}
          onValue={(typed) => change({ adminPassword: typed })}
        />
      )}
    </>
  );
}
