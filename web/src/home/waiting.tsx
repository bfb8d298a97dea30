// What waits for the user, questions of agents and MCP servers to sign in to or to review; below it, unread notifications.

import { makeVisible } from "../../../src/approval/visible.ts";
import { conversationPath } from "../chat/conversation-links.ts";
import { Link } from "../frame/link.tsx";
import { joinPath } from "../frame/route.ts";
import { agentName, findAgent } from "../state/agents.ts";
import { approvals, ownQuestions } from "../state/approvals.ts";
import { mcpServers, waitsForPerson, wantsSignIn } from "../state/mcp-servers.ts";
import { notifications } from "../state/notifications.ts";
import { mayCall } from "../state/session.ts";
import { Card } from "../ui/card.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";

type Item = { key: string; icon: IconName; tone: "accent" | "warn" | "plain"; title: string; hint: string; at: number | null; to: string };

const NOTIFICATIONS_MAX = 4;

export function Waiting() {
  const items = [...questionItems(), ...serverItems()];
  const news = notificationItems();
  return (
    <>
      <Card title="Waiting for you">
        {mayCall("proc.approval.list") ? (
          <Loaded latest={approvals} label="Loading what waits for you">
            {() => <WaitingItems items={items} />}
          </Loaded>
        ) : (
          <WaitingItems items={items} />
        )}
      </Card>
      {news.length > 0 && (
        <Card title="Unread" actions={<Link to="/notifications">All notifications</Link>}>
          <Items items={news} />
        </Card>
      )}
    </>
  );
}

function WaitingItems({ items }: { items: readonly Item[] }) {
  if (items.length > 0) return <Items items={items} />;
  return (
    <p class="home-quiet">
      <Icon name="check" /> Nothing is waiting for you.
    </p>
  );
}

function Items({ items }: { items: readonly Item[] }) {
  return (
    <ul class="home-list">
      {items.map(({ key, icon, tone, title, hint, at, to }) => (
        <li key={key}>
          <Link class="home-row" to={to}>
            <span class="home-row-icon" data-tone={tone}>
              <Icon name={icon} />
            </span>
            <span class="home-row-words">
              <span class="home-row-title">{title}</span>
              <span class="home-row-hint">{hint}</span>
            </span>
            {at !== null && (
              <span class="home-row-when">
                <Time at={at} />
              </span>
            )}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function questionItems(): Item[] {
  return ownQuestions.value.map((question) => {
    const agent = findAgent(question.pid);
    return {
      key: `question ${question.requestId}`,
      icon: "approval",
      tone: "accent",
      title: `${question.title}?`,
      hint: `Asked by ${agent === null ? "an agent" : agentName(agent)}`,
      at: question.createdAt,
      to: conversationPath(question.pid, question.conversationId),
    };
  });
}

function serverItems(): Item[] {
  return (mcpServers.value.value?.servers ?? []).filter(waitsForPerson).map((server) => ({
    key: `server ${server.serverId}`,
    icon: "integration",
    tone: "warn",
    title: makeVisible(server.name),
    hint: wantsSignIn(server) ? "Sign in to use this MCP server" : "Review what this MCP server has changed",
    at: null,
    to: joinPath("integrations", "server", server.serverId),
  }));
}

function notificationItems(): Item[] {
  const unread = (notifications.value.value?.notifications ?? []).filter(
    ({ readAt, source }) => readAt === null && !(source.kind === "kernel" && source.topic === "approvals"),
  );
  const shown = unread.slice(0, NOTIFICATIONS_MAX).map(({ notificationId, title, body, level, createdAt }): Item => ({
    key: `notification ${notificationId}`,
    icon: level === "error" || level === "warning" ? "warning" : "notification",
    tone: level === "error" || level === "warning" ? "warn" : "plain",
    title: makeVisible(title),
    hint: makeVisible(body ?? "").slice(0, 200) || "Notification",
    at: createdAt,
    to: "/notifications",
  }));
  if (unread.length <= shown.length) return shown;
  const rest = unread.length - shown.length;
  return [
    ...shown,
    {
      key: "notifications",
      icon: "notification",
      tone: "plain",
      title: `${rest} more unread notification${rest === 1 ? "" : "s"}`,
      hint: "Show all",
      at: null,
      to: "/notifications",
    },
  ];
}
