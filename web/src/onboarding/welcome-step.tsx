// The first step: the choice of lane.

import { Radio } from "../ui/choice.tsx";
import { changeDraft, draft, type Lane } from "./draft.ts";
import { gatewayModel } from "./setup-calls.ts";

export function WelcomeStep() {
  const isDemo = gatewayModel.value?.provider === "demo";
  return (
    <>
      <p class="soft">This gateway is new and has no user yet. In a minute it has you, and an agent that answers.</p>
      <Radio<Lane>
        legend="How do you want to begin?"
        boxes
        value={draft.value.lane}
        onValue={(lane) => changeDraft({ lane })}
        options={[
          {
            value: "quick",
            label: "Quick",
            hint: isDemo
              ? "A name and a password. The demo model answers until you choose an AI."
              : "A name and a password. The gateway's own model answers.",
          },
          { value: "customize", label: "Customize", hint: "Also choose the AI, with a key or on your own machine, and your time zone." },
          { value: "advanced", label: "Advanced", hint: "Also a password for the administrator and your first machine." },
        ]}
      />
    </>
  );
}
