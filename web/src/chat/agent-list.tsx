// The list of agents with their states, and the conversations of the agent that is shown.

import { useState } from "preact/hooks";
import { Link } from "../frame/link.tsx";
import { agentName, agents, sortedAgents, type Agent } from "../state/agents.ts";
import { useLatest } from "../state/use-latest.ts";
import { Banner } from "../ui/banner.tsx";
import { IconButton } from "../ui/button.tsx";
import { Checkbox } from "../ui/choice.tsx";
import { Icon } from "../ui/icon.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { conversationName } from "./conversation-names.ts";
import { NewTask } from "./new-task.tsx";
import { conversationPath, DEFAULT_CONVERSATION, createConversation } from "./conversation-links.ts";
import "./agent-list.css";
import { PROC_CHANGED } from "../../../src/protocol/signal-names.ts";

const STATE_TEXT: Record<Agent["state"], string> = {
  idle: "",
  queued: "waiting",
  running: "working",
  waiting_tool: "working",
  waiting_hil: "asks you",
};

const RECENT_MS = 24 * 60 * 60 * 1000;

/** `conversationId` is null if no conversation is shown next to the list. */
type ShownConversation = { pid: string | null; conversationId: string | null };

export function AgentList({ shown }: { shown: ShownConversation }) {
  const [isNewTask, setNewTask] = useState(false);
  const all = sortedAgents.value;
  const groups = all === null ? null : groupAgents(all, Date.now());
  const problem = agents.problem.value;
  return (
    <nav class="agents" aria-label="Agents and conversations">
      <header class="agents-head">
        <h2>Agents</h2>
        <IconButton icon="plus" label="New task" onClick={() => setNewTask(true)} />
      </header>
      {problem !== null && <Banner tone="bad">{problem}</Banner>}
      {all === null ? (
        problem === null && <Skeleton label="Loading your agents" lines={4} />
      ) : (
        <ul class="agents-list">
          {groups!.recent.map((agent) => (
            <AgentEntry key={agent.pid} agent={agent} shown={shown} />
          ))}
        </ul>
      )}
      {groups !== null && groups.others.length > 0 && (
        <details class="agents-others" open={groups.others.some(({ pid }) => pid === shown.pid)}>
          <summary>{`Ended and scheduled (${groups.others.length})`}</summary>
          <ul class="agents-list">
            {groups.others.map((agent) => (
              <AgentEntry key={agent.pid} agent={agent} shown={shown} />
            ))}
          </ul>
        </details>
      )}
      {isNewTask && <NewTask onClose={() => setNewTask(false)} />}
    </nav>
  );
}

/** Agents that work, ask, or were used lately, and all others. */
function groupAgents(all: readonly Agent[], now: number): { recent: Agent[]; others: Agent[] } {
  const isRecent = ({ profile, state, lastActiveAt, createdAt }: Agent) => {
    if (profile === "init" || state !== "idle") return true;
    return profile !== "cron" && now - (lastActiveAt ?? createdAt) < RECENT_MS;
  };
  return { recent: all.filter(isRecent), others: all.filter((agent) => !isRecent(agent)) };
}

function AgentEntry({ agent, shown }: { agent: Agent; shown: ShownConversation }) {
  const isShown = agent.pid === shown.pid;
  const stateText = STATE_TEXT[agent.state];
  return (
    <li class="agent" data-shown={isShown}>
      <Link
        class="agent-link"
        to={conversationPath(agent.pid)}
        aria-current={isShown && shown.conversationId !== null ? "page" : undefined}
      >
        <Icon name={agent.profile === "init" ? "person" : "pieces"} />
        <span class="agent-name">{agentName(agent)}</span>
        {stateText === "" ? (
          <span class="agent-when">{agent.lastActiveAt !== null && <Time at={agent.lastActiveAt} />}</span>
        ) : (
          <span class="agent-doing" data-state={agent.state}>
            {stateText}
          </span>
        )}
      </Link>
      {isShown && <Conversations agent={agent} shown={shown.conversationId} />}
    </li>
  );
}

function Conversations({ agent, shown }: { agent: Agent; shown: string | null }) {
  const [withClosed, setWithClosed] = useState(false);
  const { pid } = agent;
  const latest = useLatest("proc.conversation.list", { pid, includeClosed: true }, ({ signal, payload }) => {
    if (signal !== PROC_CHANGED || payload.pid !== pid) return false;
    return payload.changes.includes("conversations") || payload.changes.includes("messages");
  });
  const conversations = latest.value.value?.conversations ?? [];
  const visible = conversations
    .filter(({ status, id }) => status === "open" || withClosed || id === shown)
    .toSorted((one, other) => Number(other.isPinned) - Number(one.isPinned));
  const isListed = (id: string) => visible.some((one) => one.id === id);
  const listed =
    isListed(DEFAULT_CONVERSATION) || conversations.some(({ id }) => id === DEFAULT_CONVERSATION)
      ? visible
      : [{ id: DEFAULT_CONVERSATION, title: null, status: "open" as const, isPinned: false }, ...visible];
  return (
    <div class="conversations">
      <ul>
        {listed.map((one) => (
          <li key={one.id}>
            <Link class="conversation-link" to={conversationPath(pid, one.id)} aria-current={one.id === shown ? "page" : undefined}>
              {one.isPinned && <Icon name="pin" />}
              <span class="conversation-name">{conversationName(one)}</span>
              {one.status === "closed" && <span class="soft small">closed</span>}
              {agent.state !== "idle" && agent.activeConversationId === one.id && <span class="conversation-dot" title="Working here" />}
            </Link>
          </li>
        ))}
      </ul>
      <button type="button" class="conversation-new" onClick={() => void createConversation(pid)}>
        <Icon name="plus" />
        New conversation
      </button>
      {conversations.some(({ status }) => status === "closed") && (
        <Checkbox label="Show closed ones" checked={withClosed} onChecked={setWithClosed} />
      )}
    </div>
  );
}
