// The header of a conversation: a back link on a narrow screen, context use and cost, and a menu of actions.

import { agentName, findAgent } from "../state/agents.ts";
import { call, describeError } from "../state/call.ts";
import type { Conversation } from "../state/conversation.ts";
import { showNotice } from "../state/notices.ts";
import { Link } from "../frame/link.tsx";
import { IconButton } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import type { DialogName } from "./conversation-dialogs.tsx";
import { ContextMeter } from "./context-meter.tsx";
import { conversationName } from "./conversation-names.ts";

type HeadProps = {
  conversation: Conversation;
  isNarrow: boolean;
  /** The title of the pane already shows the name of the conversation. */
  isNamed: boolean;
  onDialog: (name: DialogName | "search") => void;
  onReopen: () => void;
};

export function ConversationHead({ conversation, isNarrow, isNamed, onDialog, onReopen }: HeadProps) {
  const { pid, id: conversationId } = conversation;
  const info = conversation.info.value.value;
  const agent = findAgent(pid);
  const close = async () => {
    try {
      await call("proc.conversation.close", { pid, conversationId });
    } catch (error) {
      showNotice(describeError(error), "bad");
    }
  };
  const isClosed = info?.status === "closed";
  return (
    <header class="conversation-head">
      {isNarrow && (
        <Link class="icon-button" to="/chat" aria-label="All agents">
          <Icon name="back" />
        </Link>
      )}
      <div class="conversation-title">
        <h2>{agent === null ? "" : agentName(agent)}</h2>
        {!isNamed && <span class="soft">{conversationName(info ?? { id: conversationId, title: null })}</span>}
      </div>
      <ContextMeter conversation={conversation} />
      <IconButton icon="search" label="Search this conversation" onClick={() => onDialog("search")} />
      <Menu
        label="What to do with this conversation"
        items={[
          { title: "Rename", icon: "edit", run: () => onDialog("rename") },
          { title: "Compact older messages", icon: "archive", run: () => onDialog("compact") },
          { title: "When the context is full", icon: "settings", run: () => onDialog("policy") },
          isClosed ? { title: "Open again", icon: "refresh", run: onReopen } : { title: "Close", icon: "check", run: () => void close() },
          { title: "Reset", icon: "refresh", danger: true, run: () => onDialog("reset") },
          { title: "End the agent", icon: "stop", danger: true, run: () => onDialog("kill") },
        ]}
      />
    </header>
  );
}
