// What interrupts the user: push messages to this browser, the levels by origin, and the other browsers that get messages.

import { makeVisible } from "../../../src/approval/visible.ts";
import type { NotificationLevels, NotificationOrigin } from "../../../src/protocol/push-records.ts";
import { call } from "../state/call.ts";
import { notificationLevels } from "../state/notifications.ts";
import type { Subscription } from "../state/push.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { useChoice } from "../state/use-choice.ts";
import { useLatest } from "../state/use-latest.ts";
import { useOperation } from "../state/use-operation.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Select } from "../ui/choice.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";
import { PushHere } from "./push-here.tsx";
import { THRESHOLDS } from "./thresholds.ts";
import "./notifications.css";

const ORIGINS: { origin: NotificationOrigin; label: string; hint: string }[] = [
  { origin: "approvals", label: "Questions of agents", hint: "An agent waits for your permission." },
  { origin: "budgets", label: "Budgets", hint: "An agent has used up what it may use." },
  { origin: "schedules", label: "Schedules", hint: "Results, failures, and schedules that were paused." },
  { origin: "agents", label: "Messages of agents", hint: "What agents want you to know." },
  { origin: "devices", label: "Machines", hint: "A machine has been offline for ten minutes." },
  { origin: "watches", label: "Watches", hint: "An agent could not be told of what it waits for." },
  { origin: "you", label: "Yourself", hint: "What you send with gsv notify, such as from a script." },
];

export function NotificationSettings() {
  const browsers = useLatest("notification.push.list", {}, makeChangeFilter("push", "tokens"));
  return (
    <>
      <Loaded latest={browsers} label="Loading what is pushed where">
        {({ subscriptions }) => (
          <>
            <div class="setting" id="setting-push">
              <PushHere subscriptions={subscriptions} onChanged={() => browsers.refetch()} />
            </div>
            <div class="setting" id="setting-levels">
              <Levels />
            </div>
            <OtherBrowsers others={subscriptions.filter(({ isCurrent }) => !isCurrent)} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Levels() {
  return (
    <Card
      title="What interrupts you"
      text="Push messages and notices in the page, on all your devices. The list of notifications always has everything."
    >
      <Loaded latest={notificationLevels} label="Loading your choices">
        {({ levels }) => <LevelChoices levels={levels} />}
      </Loaded>
    </Card>
  );
}

function LevelChoices({ levels }: { levels: NotificationLevels }) {
  const { value, choose, problem } = useChoice(levels, async (change) => {
    await call("notification.settings.set", { levels: change });
    await notificationLevels.refetch();
  });
  return (
    <>
      <div class="notification-levels">
        {ORIGINS.map(({ origin, label, hint }) => (
          <Select
            key={origin}
            label={label}
            hint={hint}
            value={value[origin]}
            options={THRESHOLDS}
            onValue={(threshold) => choose({ [origin]: threshold })}
          />
        ))}
      </div>
      {problem !== null && <Banner tone="bad">{makeVisible(problem)}</Banner>}
    </>
  );
}

function OtherBrowsers({ others }: { others: readonly Subscription[] }) {
  if (others.length === 0) return null;
  return (
    <Card title="Other browsers" text="They get push messages too. Remove those that you do not use any more, or that you have lost.">
      <ul class="entries">
        {others.map((browser) => (
          <OtherBrowser key={browser.subscriptionId} browser={browser} />
        ))}
      </ul>
    </Card>
  );
}

function OtherBrowser({ browser }: { browser: Subscription }) {
  const { subscriptionId, label, level, createdAt, lastSentAt, lastError } = browser;
  const operation = useOperation();
  const name = makeVisible(label);
  return (
    <li class="entry">
      <div class="entry-words">
        <p class="row">
          <strong>{name}</strong>
          {level !== "all" && <Badge>{THRESHOLDS.find(({ value }) => value === level)!.label}</Badge>}
        </p>
        <p class="soft small">
          {lastSentAt === null ? (
            <>
              Turned on <Time at={createdAt} />, nothing was sent yet
            </>
          ) : (
            <>
              Last message <Time at={lastSentAt} />
            </>
          )}
        </p>
        {lastError !== null && <p class="small">The last message was not accepted: {makeVisible(lastError)}</p>}
        {operation.problem !== null && <Banner tone="bad">{makeVisible(operation.problem)}</Banner>}
      </div>
      <Button
        look="quiet"
        busy={operation.isBusy}
        aria-label={`Remove ${name}`}
        onClick={() => void operation.run(() => call("notification.push.unsubscribe", { subscriptionId }))}
      >
        Remove
      </Button>
    </li>
  );
}
