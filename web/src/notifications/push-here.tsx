// Push messages to this browser: on or off, from which level on, and a test.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call } from "../state/call.ts";
import type { PushChoice } from "../state/push-memory.ts";
import { choosePush, pushState, type PushState, type Subscription, turnOffPush, turnOnPush } from "../state/push.ts";
import { type Operation, useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Checkbox, Select } from "../ui/choice.tsx";
import { useChoice } from "../state/use-choice.ts";
import { THRESHOLDS } from "./thresholds.ts";

type PushHereProps = { subscriptions: readonly Subscription[]; onChanged: () => Promise<void> };

const WHY_NOT: Record<Exclude<PushState, "on" | "off">, string> = {
  insecure:
    "Browsers allow push messages only over https, or on the computer that runs GSV. Open GSV at an https address: the guide on remote access says how to get one.",
  impossible: "This browser has no push messages. On an iPhone or iPad, add GSV to the home screen first, and open it from there.",
  blocked: "This browser does not allow notifications of GSV. Allow them in its settings for this site, and load the page again.",
};

export function PushHere({ subscriptions, onChanged }: PushHereProps) {
  const operation = useOperation();
  const current = subscriptions.find(({ isCurrent }) => isCurrent);
  const state = pushState.value;
  const change = (work: () => Promise<unknown>) => operation.run(work).then(onChanged);
  return (
    <Card
      title="Push messages to this browser"
      text="You are told of what happens, and can answer questions of agents, also while no page of GSV is open."
    >
      {current !== undefined ? (
        <PushOn
          key={current.subscriptionId}
          current={current}
          operation={operation}
          change={change}
          onOff={() => turnOffPush(subscriptions)}
          onChanged={onChanged}
        />
      ) : state === "on" || state === "off" ? (
        <div>
          <Button look="primary" icon="notification" busy={operation.isBusy} onClick={() => void change(turnOnPush)}>
            Turn on
          </Button>
        </div>
      ) : (
        <Banner tone="plain">{WHY_NOT[state]}</Banner>
      )}
      {operation.problem !== null && <Banner tone="bad">{makeVisible(operation.problem)}</Banner>}
      <p class="soft small">
        Messages travel through the push service of your browser&rsquo;s maker. They are encrypted: only this browser can read them.
      </p>
    </Card>
  );
}

type PushOnProps = {
  current: Subscription;
  operation: Operation;
  change: (work: () => Promise<unknown>) => Promise<unknown>;
  onOff: () => Promise<unknown>;
  onChanged: () => Promise<void>;
};

function PushOn({ current, operation, change, onOff, onChanged }: PushOnProps) {
  const { subscriptionId, service, lastError } = current;
  const [test, setTest] = useState<string | null>(null);
  const { value, choose, problem } = useChoice<PushChoice>(current, async (choice) => {
    await choosePush(subscriptionId, choice);
    await onChanged();
  });
  const sendTest = async () => {
    setTest(null);
    const { error } = await call("notification.push.test", { subscriptionId });
    setTest(error === null ? "Sent. It should appear within a few seconds." : `Not sent: ${makeVisible(error)}`);
  };
  return (
    <div class="stack">
      <p>
        <strong>On.</strong> Messages go through {makeVisible(service)}.
      </p>
      {lastError !== null && <Banner tone="warn">The last message was not accepted: {makeVisible(lastError)}.</Banner>}
      <Select label="Push to this browser" value={value.level} options={THRESHOLDS} onValue={(level) => choose({ level })} />
      <Checkbox
        label="Allow from a notification"
        hint="Short questions get an Allow button. Whoever holds this device may be able to press it while the screen is locked."
        checked={value.mayAllow}
        onChecked={(mayAllow) => choose({ mayAllow })}
      />
      {problem !== null && <Banner tone="bad">{makeVisible(problem)}</Banner>}
      <div class="row">
        <Button busy={operation.isBusy} onClick={() => void change(sendTest)}>
          Send a test
        </Button>
        <Button look="quiet" busy={operation.isBusy} onClick={() => void change(onOff)}>
          Turn off
        </Button>
      </div>
      <p role="status">{test}</p>
    </div>
  );
}
