// Notifications: what the gateway, agents and the user have noted, newest first. Settings says what interrupts.

import { useEffect } from "preact/hooks";
import { useActions } from "../frame/actions.ts";
import { Link } from "../frame/link.tsx";
import { go } from "../frame/route.ts";
import { NotificationList } from "../notifications/notification-list.tsx";
import { useAgentUpdates } from "../state/agents.ts";
import { call } from "../state/call.ts";
import { type Notice, notifications } from "../state/notifications.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Loaded } from "../ui/loaded.tsx";
import type { ScreenProps } from "./screens.ts";
import "../notifications/notifications.css";

export default function Notifications({ rest: [page], pane }: ScreenProps) {
  // The names of the agents that have sent some.
  useAgentUpdates();
  // The address of an earlier version.
  useEffect(() => {
    if (page === "settings") go("/settings/notifications", { pane, replace: true });
  }, [page]);
  return (
    <div class="notifications">
      <AllNotifications />
    </div>
  );
}

function AllNotifications() {
  const operation = useOperation();
  useEffect(() => void notifications.refetch(), []);
  const readAll = () => operation.run(() => changeAll(unreadOf(notifications.value.peek()?.notifications), "notification.mark_read"));
  const dismissAll = () => operation.run(() => changeAll(notifications.value.peek()?.notifications ?? [], "notification.dismiss"));
  useActions(
    () => [
      { id: "notifications.read", title: "Mark all notifications as read", group: "Notifications", run: () => void readAll() },
      { id: "notifications.dismiss", title: "Dismiss all notifications", group: "Notifications", run: () => void dismissAll() },
    ],
    [],
  );
  return (
    <>
      <Loaded latest={notifications} label="Loading your notifications">
        {({ notifications: all, unreadCount }) =>
          all.length === 0 ? (
            <EmptyState
              icon="notification"
              title="No notifications"
              text="What your schedules have done, what agents want you to know, and what needs you appears here."
            >
              <SettingsLink />
            </EmptyState>
          ) : (
            <>
              <div class="notifications-head">
                <p class="soft">{unreadCount === 0 ? "All read" : `${unreadCount >= 1_000 ? "1000 and more" : unreadCount} unread`}</p>
                <div class="row">
                  <SettingsLink />
                  {unreadCount > 0 && (
                    <Button icon="check" busy={operation.isBusy} onClick={() => void readAll()}>
                      Mark all as read
                    </Button>
                  )}
                  <Button look="quiet" busy={operation.isBusy} onClick={() => void dismissAll()}>
                    Dismiss all
                  </Button>
                </div>
              </div>
              {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
              <NotificationList notices={all} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function SettingsLink() {
  return <Link to="/settings/notifications">Notification settings</Link>;
}

function unreadOf(notices: readonly Notice[] = []): readonly Notice[] {
  return notices.filter(({ readAt }) => readAt === null);
}

async function changeAll(notices: readonly Notice[], name: "notification.mark_read" | "notification.dismiss"): Promise<void> {
  for (const { notificationId } of notices) await call(name, { notificationId });
  await notifications.refetch();
}
