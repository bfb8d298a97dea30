// The password of root, the administrator.

import { Radio } from "../ui/choice.tsx";
import { changeDraft, draft } from "./draft.ts";
import { GuidedField } from "./guided-field.tsx";
import { PasswordField } from "./password-field.tsx";
import type { StepProps } from "./step-props.ts";

export function AdminStep({ errorOf }: StepProps) {
  const { adminMode, adminPassword } = draft.value;
  return (
    <>
      <p class="soft">
        Beside you there is <b>root</b>, who adds people and changes how the gateway works. You log in as root only for that.
      </p>
      <GuidedField field="adminMode">
        <Radio<"same" | "custom">
          legend="The password of root"
          boxes
          value={adminMode}
          onValue={(mode) => changeDraft({ adminMode: mode })}
          options={[
            { value: "same", label: "The same as mine", hint: "Fine where you are the only one." },
            { value: "custom", label: "One of its own", hint: "Better where others have accounts, too." },
          ]}
        />
      </GuidedField>
      {adminMode === "custom" && (
        <PasswordField
          label="Password of root"
          name="adminPassword"
          error={errorOf("adminPassword")}
          value={adminPassword}
          onValue={(typed) => changeDraft({ adminPassword: typed })}
        />
      )}
    </>
  );
}
