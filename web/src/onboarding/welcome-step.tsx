// The first step: the choice of lane.

import { Radio } from "../ui/choice.tsx";
import { changeDraft, draft, type Lane } from "./draft.ts";
import { gatewayModel } from "./setup-calls.ts";

export function WelcomeStep() {
  const isDemo = gatewayModel.value?.provider === "demo";
  return (
    <>
      <p class="soft">Let's set it up. It takes about a minute.</p>
      <Radio<Lane>
        legend="How much would you like to set up now?"
        boxes
        value={draft.value.lane}
        onValue={(lane) => changeDraft({ lane })}
        options={[
          {
            value: "quick",
            label: "Quick",
            hint: isDemo
              ? "Name and password. A demo answers until you choose a model."
              : "Name and password. The gateway's own model answers.",
          },
          { value: "customize", label: "Customize", hint: "Also choose the model and your time zone." },
          { value: "advanced", label: "Advanced", hint: "Also set an administrator password and connect your first machine." },
        ]}
      />
    </>
  );
}
