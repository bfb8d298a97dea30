// Set-up of a gateway without a user: first the setup code, if the gateway requires one, then the wizard. The entered values are in
// draft.ts, the current step in steps.ts.

import { useEffect, useState } from "preact/hooks";
import { CallError } from "../../../src/client/client.ts";
import { describeError } from "../state/call.ts";
import { SingleCardPage } from "../frame/single-card-page.tsx";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { SetupCodePage } from "./setup-code-page.tsx";
import { hasSetupCode, openSetup, gatewayModel } from "./setup-calls.ts";
import { Wizard } from "./wizard.tsx";

export default function Onboarding() {
  const [problem, setProblem] = useState<unknown>(null);
  const open = () => {
    setProblem(null);
    openSetup().catch(setProblem);
  };
  const isOpen = gatewayModel.value !== null;
  useEffect(() => {
    if (!isOpen) open();
  }, [isOpen]);
  if (isOpen) return <Wizard />;
  if (problem instanceof CallError && (problem.code === 403 || problem.code === 429))
    return (
      <SetupCodePage
        initialProblem={hasSetupCode() || !problem.message.startsWith("Setup code required") ? describeError(problem) : null}
      />
    );
  return (
    <SingleCardPage title="Welcome to GSV">
      {problem === null ? (
        <Skeleton label="Loading" />
      ) : (
        <Banner tone="bad" actions={<Button onClick={open}>Retry</Button>}>
          {describeError(problem)}
        </Banner>
      )}
    </SingleCardPage>
  );
}
