// The list of notifications. Those of agents, of the gateway and of the user look alike, and say whom they are from.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isVisible } from "../../../src/protocol/notification-levels.ts";
import { isDesktopPath } from "../../../src/protocol/desktop-path.ts";
import { go } from "../frame/route.ts";
import { agentName, findAgent } from "../state/agents.ts";
import { call } from "../state/call.ts";
import { dismiss, markRead, type Notice } from "../state/notifications.ts";
import { useOperation } from "../state/use-operation.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner, type Tone } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { joinClasses } from "../ui/classes.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Time } from "../ui/time.tsx";

export function NotificationList({ notices }: { notices: readonly Notice[] }) {
  return (
    <ol class="entries">
      {notices.map((notice) => (
        <NotificationEntry key={notice.notificationId} notice={notice} />
      ))}
    </ol>
  );
}

const TONES: Record<Notice["level"], Tone> = { info: "plain", success: "good", warning: "warn", error: "bad" };
const ICONS: Record<Notice["level"], IconName> = { info: "notification", success: "check", warning: "warning", error: "warning" };
const LEVELS: Record<Notice["level"], string> = { info: "Information", success: "Success", warning: "Warning", error: "Error" };
const TOPICS: Record<string, string> = {
  approvals: "Approvals",
  budgets: "Budgets",
  devices: "Machines",
  schedules: "Schedules",
  watches: "Watches",
};
const BODY_CHARS = 280;
const BODY_LINES = 5;

function NotificationEntry({ notice }: { notice: Notice }) {
  const { title, body, level, createdAt, readAt, source } = notice;
  const operation = useOperation();
  const [isOpen, setOpen] = useState(false);
  const text = isVisible(source) ? (body ?? "") : makeVisible(body ?? "");
  const start = text.split("\n", BODY_LINES).join("\n").slice(0, BODY_CHARS);
  const isLong = start.length < text.length;
  const isUnread = readAt === null;
  return (
    <li class={joinClasses("entry notification", isUnread && "notification-unread")}>
      <span class={`notification-icon notification-${level}`}>
        <Icon name={ICONS[level]} />
      </span>
      <div class="entry-words">
        <p class="row">
          {isUnread && <span class="unseen">Unread. </span>}
          <strong>{makeVisible(title)}</strong>
          {(level === "warning" || level === "error") && <Badge tone={TONES[level]}>{LEVELS[level]}</Badge>}
        </p>
        {text !== "" && <p class="notification-body">{isOpen || !isLong ? text : `${start}…`}</p>}
        <p class="soft small">
          {describeSource(source)}, <Time at={createdAt} />
        </p>
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
        <Actions notice={notice} operation={operation}>
          {isLong && (
            <Button look="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? "Show less" : "Show all"}
            </Button>
          )}
        </Actions>
        <div class="notification-tools">
          {isUnread && (
            <Button
              look="quiet"
              aria-label={`Mark as read: ${makeVisible(title)}`}
              onClick={() => void operation.run(() => markRead(notice))}
            >
              Mark as read
            </Button>
          )}
          <Button look="quiet" aria-label={`Dismiss: ${makeVisible(title)}`} onClick={() => void operation.run(() => dismiss(notice))}>
            Dismiss
          </Button>
        </div>
      </div>
    </li>
  );
}

type ActionsProps = { notice: Notice; operation: ReturnType<typeof useOperation>; children: ComponentChildren };

/** Only what we know how to do safely. An answer to a question is offered on the screen that shows all of it. */
function Actions({ notice, operation, children }: ActionsProps) {
  const open = notice.actions.find(({ kind }) => kind === "open");
  const deny = notice.source.kind === "kernel" ? notice.actions.find(({ kind }) => kind === "deny") : undefined;
  const path = open?.target !== undefined && isDesktopPath(open.target) ? open.target : null;
  const target = deny === undefined ? path : "/approvals";
  if (target === null && deny === undefined && children === false) return null;
  const show = () => {
    void operation.run(() => markRead(notice));
    go(target!);
  };
  return (
    <div class="row">
      {children}
      {target !== null && <Button onClick={show}>{deny === undefined ? makeVisible(open!.label) : "Review"}</Button>}
      {deny?.target !== undefined && (
        <Button
          busy={operation.isBusy}
          onClick={() => void operation.run(() => call("proc.hil", { requestId: deny.target!, decision: "deny" }))}
        >
          Deny
        </Button>
      )}
    </div>
  );
}

function describeSource(source: Notice["source"]): string {
  switch (source.kind) {
    case "user":
      return "From you";
    case "process":
      return `From ${nameOfProcess(source.processId)}`;
    case "app":
      return `From ${makeVisible(source.packageName)}`;
    case "kernel":
      return TOPICS[source.topic] ?? "GSV";
  }
}

function nameOfProcess(pid: string): string {
  const agent = findAgent(pid);
  return agent === null ? "an agent" : agentName(agent);
}
