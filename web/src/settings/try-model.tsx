// Asks the model that counts a tiny question, and says what came of it.

import { useState } from "preact/hooks";
import { call, type Result } from "../state/call.ts";
import { useDoing } from "../state/use-doing.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";

type Check = Result<"sys.doctor">["checks"][number];

const TONE = { ok: "good", warn: "warn", fail: "bad" } as const;
/** A model on a small machine takes its time. */
const WAIT_MS = 120_000;

export function TryModel() {
  const [found, setFound] = useState<Check | null>(null);
  const doing = useDoing();
  const look = () =>
    doing.run(async () => {
      setFound(null);
      const { checks } = await call("sys.doctor", { tryModel: true }, { timeoutMs: WAIT_MS });
      setFound(checks.find(({ id }) => id === "model") ?? null);
    });
  return (
    <Card
      title="Does it answer?"
      text="Asks the model your agents use, as it is saved, a tiny question."
      actions={
        <Button busy={doing.busy} onClick={() => void look()}>
          Try it
        </Button>
      }
    >
      {doing.problem !== null && <Banner tone="bad">{doing.problem}</Banner>}
      {found !== null && (
        <Banner tone={TONE[found.state]}>
          {found.says} {found.next}
        </Banner>
      )}
    </Card>
  );
}
