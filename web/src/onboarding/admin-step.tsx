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
        <b>root</b> is the administrator: it adds people and changes gateway settings. Use your own account for everything else.
      </p>
      <GuidedField field="adminMode">
        <Radio<"same" | "custom">
          legend="Password of root"
          boxes
          value={adminMode}
          onValue={(mode) => changeDraft({ adminMode: mode })}
          options={[
            { value: "same", label: "Same as mine", hint: "Fine if only you use this gateway." },
            { value: "custom", label: "A separate one", hint: "Better if other people get accounts." },
          ]}
        />
      </GuidedField>
      {adminMode === "custom" && (
        <PasswordField
          label="Administrator password"
          name="adminPassword"
          error={errorOf("adminPassword")}
          value={adminPassword}
          onValue={(typed) => changeDraft({ adminPassword: typed })}
        />
      )}
    </>
  );
}
