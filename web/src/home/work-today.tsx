// Agents at work and what was done today: conversations in which something happened since midnight, running ones first.

import { makeVisible } from "../../../src/approval/visible.ts";
import { PROC_CHANGED, RUN_FINISHED, RUN_STARTED } from "../../../src/protocol/signal-names.ts";
import { conversationPath, DEFAULT_CONVERSATION } from "../chat/conversation-links.ts";
import { conversationName } from "../chat/conversation-names.ts";
import { Link } from "../frame/link.tsx";
import { type Agent, agentName, findAgent } from "../state/agents.ts";
import { useRead } from "../state/use-latest.ts";
import { usePolling } from "../state/use-polling.ts";
import { Badge } from "../ui/badge.tsx";
import { Card } from "../ui/card.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";
import { readWorkOfToday, type Work } from "./read-work.ts";

const SHOWN_MAX = 8;
/** A page does not hear of every message: those of other connections, such as a terminal, go to them alone. */
const POLL_MS = 10_000;
const SHOWN_CHANGES = ["conversations", "messages", "lifecycle"] as const;
const STATE_WORDS: Record<Agent["state"], string> = {
  idle: "",
  queued: "Queued",
  running: "Answering",
  waiting_tool: "Running a tool",
  waiting_hil: "Waiting for your answer",
};

export function WorkToday() {
  const latest = useRead(readWorkOfToday, "today", ({ signal, payload }) => {
    if (signal === RUN_STARTED || signal === RUN_FINISHED) return true;
    return signal === PROC_CHANGED && SHOWN_CHANGES.some((change) => payload.changes.includes(change));
  });
  usePolling(latest, POLL_MS);
  return (
    <Card title="Today">
      <Loaded latest={latest} label="Loading what agents do">
        {(work) =>
          work.length === 0 ? (
            <p class="home-quiet">No agent has worked today. Say above what you would like to do.</p>
          ) : (
            <ul class="home-list">
              {sortByState(work)
                .slice(0, SHOWN_MAX)
                .map((one) => (
                  <WorkRow key={`${one.pid} ${one.conversation.id}`} work={one} />
                ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}

function WorkRow({ work: { pid, conversation } }: { work: Work }) {
  const agent = findAgent(pid);
  const state = stateOf(pid, conversation.id);
  return (
    <li>
      <Link class="home-row" to={conversationPath(pid, conversation.id)}>
        <span class="home-row-icon" data-tone={state === "idle" ? "plain" : "accent"}>
          <Icon name="chat" />
        </span>
        <span class="home-row-words">
          <span class="home-row-title">{titleOf(agent, conversation)}</span>
          <span class="home-row-hint">{agent === null ? "" : agentName(agent)}</span>
        </span>
        {state === "idle" ? (
          <span class="home-row-when">
            <Time at={conversation.updatedAt} />
          </span>
        ) : (
          <Badge tone={state === "waiting_hil" ? "warn" : "accent"} dot>
            {STATE_WORDS[state]}
          </Badge>
        )}
      </Link>
    </li>
  );
}

/** The only conversation of an agent with one task is called like the agent. */
function titleOf(agent: Agent | null, conversation: Work["conversation"]): string {
  const isMain = conversation.id === DEFAULT_CONVERSATION && conversation.title === null;
  return isMain && agent !== null && agent.profile !== "init" ? agentName(agent) : makeVisible(conversationName(conversation));
}

/** The state of the agent, if it works in this conversation. */
function stateOf(pid: string, conversationId: string): Agent["state"] {
  const agent = findAgent(pid);
  return agent !== null && agent.activeConversationId === conversationId ? agent.state : "idle";
}

function sortByState(work: readonly Work[]): readonly Work[] {
  const isBusy = ({ pid, conversation }: Work) => Number(stateOf(pid, conversation.id) !== "idle");
  return work.toSorted((a, b) => isBusy(b) - isBusy(a) || b.conversation.updatedAt - a.conversation.updatedAt);
}
