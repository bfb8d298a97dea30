// A gateway without a user. Setting it up here is not built yet, and says so.

import { gsvAt } from "../../../src/lib/gsv-at.ts";
import { begin } from "../state/session.ts";
import { useDoing } from "../state/use-doing.ts";
import { Alone } from "../frame/alone.tsx";
import { Button } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";

export default function Onboarding() {
  const { busy, run } = useDoing();
  return (
    <Alone title="Welcome to GSV" text="This gateway has no user yet. Create the first one from a terminal:">
      <Code text={`${gsvAt(location.origin)} auth setup`} />
      <Button look="primary" wide busy={busy} onClick={() => void run(begin)}>
        Go on when it is done
      </Button>
    </Alone>
  );
}
