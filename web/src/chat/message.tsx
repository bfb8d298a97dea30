// One message: of the user, of the agent without its tool calls, or of the system.

import { Component } from "preact";
import { useState } from "preact/hooks";
import { Lazy } from "../frame/lazy.tsx";
import type { Conversation } from "../state/conversation.ts";
import type { HistoryMessage } from "../state/history-window.ts";
import { isStopped, parseMedia, parseToolResult, parseText, parseReasoning } from "./message-content.ts";
import { EditMessage, hasEdit } from "./edit-message.tsx";
import { MediaList } from "./media.tsx";
import type { MessageActions } from "./message-actions.ts";
import { MessageTools } from "./message-tools.tsx";
import { SystemMessage } from "./system-message.tsx";
import { Thoughts } from "./thoughts.tsx";
import { ToolCard } from "./tool-card.tsx";
import { formatClock } from "../ui/format-time.ts";
import "./message.css";

const loadMarkdown = () => import("../markdown/markdown.tsx");

export type MessageProps = {
  conversation: Conversation;
  message: HistoryMessage;
  /** Missing for an archived message, whose usage is not shown either. */
  actions?: MessageActions;
  /** It is the newest, and no run is active. */
  isLast?: boolean;
};

/** While an answer streams, the list renders its rows every frame; unchanged messages are not rendered again. */
export class MessageView extends Component<MessageProps> {
  override shouldComponentUpdate(next: MessageProps): boolean {
    const { message, conversation, isLast } = this.props;
    return next.message !== message || next.conversation !== conversation || next.isLast !== isLast;
  }

  render(props: MessageProps) {
    switch (props.message.role) {
      case "user":
        return <UserMessage {...props} />;
      case "assistant":
        return <AgentMessage {...props} />;
      case "system":
        return <SystemMessage {...props} />;
      case "toolResult":
        return <ResultWithoutCall {...props} />;
    }
  }
}

function UserMessage(props: MessageProps) {
  const { conversation, message, actions } = props;
  const [isEditing, setEditing] = useState(() => hasEdit(conversation, message));
  const media = parseMedia(message.content);
  const text = parseText(message.content);
  if (isEditing && actions !== undefined)
    return (
      <article class="message message-user" aria-label="You, editing">
        <EditMessage conversation={conversation} message={message} text={text} actions={actions} onClose={() => setEditing(false)} />
      </article>
    );
  return (
    <article class="message message-user" aria-label={`You, ${formatClock(message.timestamp)}`} tabIndex={-1}>
      <div class="bubble">
        {media.length > 0 && <MediaList pid={conversation.pid} media={media} />}
        {text !== "" && <p class="bubble-text">{text}</p>}
      </div>
      <MessageTools {...props} text={text} onEdit={() => setEditing(true)} />
    </article>
  );
}

function AgentMessage(props: MessageProps) {
  const { message } = props;
  const text = parseText(message.content);
  return (
    <article class="message message-agent" aria-label={`Agent, ${formatClock(message.timestamp)}`} tabIndex={-1}>
      <Thoughts thoughts={parseReasoning(message.content)} />
      {text.trim() !== "" && <Lazy load={loadMarkdown} props={{ text }} />}
      {isStopped(message.content) && <p class="message-stopped">Stopped</p>}
      {text.trim() !== "" && <MessageTools {...props} text={text} />}
    </article>
  );
}

/** A result whose call is outside the loaded window. */
function ResultWithoutCall({ conversation, message }: MessageProps) {
  const result = parseToolResult(message.content);
  if (result === null) return null;
  const call = { id: result.toolCallId, name: result.toolName, args: {}, raw: null };
  return (
    <article class="message message-agent" aria-label="Result of a tool">
      <ToolCard conversation={conversation} call={call} result={{ ...result, message }} />
    </article>
  );
}
