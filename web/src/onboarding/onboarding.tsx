// A gateway without a user, set up from here: first its door, where it has one, then the steps. What is filled in is in
// draft.ts, where one is in steps.ts.

import { useEffect, useState } from "preact/hooks";
import { CallError } from "../../../src/client/client.ts";
import { describeError } from "../state/call.ts";
import { SingleCardPage } from "../frame/single-card-page.tsx";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Door } from "./door.tsx";
import { hasCode, knock, own } from "./gateway.ts";
import { Wizard } from "./wizard.tsx";

export default function Onboarding() {
  const [problem, setProblem] = useState<unknown>(null);
  const look = () => {
    setProblem(null);
    knock().catch(setProblem);
  };
  const isOpen = own.value !== null;
  useEffect(() => {
    if (!isOpen) look();
  }, [isOpen]);
  if (isOpen) return <Wizard />;
  if (problem instanceof CallError && (problem.code === 403 || problem.code === 429))
    return <Door first={hasCode() || !problem.message.startsWith("Setup code required") ? describeError(problem) : null} />;
  return (
    <SingleCardPage title="Welcome to GSV">
      {problem === null ? (
        <Skeleton label="Asking the gateway" />
      ) : (
        <Banner tone="bad" actions={<Button onClick={look}>Try again</Button>}>
          {describeError(problem)}
        </Banner>
      )}
    </SingleCardPage>
  );
}
