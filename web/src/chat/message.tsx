// One message: of the user, of the agent with its tool calls, or of the system.

import { Component } from "preact";
import { useState } from "preact/hooks";
import { Lazy } from "../frame/lazy.tsx";
import type { Conversation } from "../state/conversation.ts";
import type { HistoryMessage } from "../state/history-window.ts";
import { Icon } from "../ui/icon.tsx";
import { parseToolCalls, isStopped, parseMedia, parseToolResult, parseText, parseReasoning } from "./message-content.ts";
import { MediaList } from "./media.tsx";
import { MessageTools } from "./message-tools.tsx";
import type { RowResult } from "./message-rows.ts";
import { SystemMessage } from "./system-message.tsx";
import { ToolCard } from "./tool-card.tsx";
import "./message.css";

const loadMarkdown = () => import("../markdown/markdown.tsx");

export type MessageProps = {
  conversation: Conversation;
  message: HistoryMessage;
  results: readonly (RowResult | null)[];
  /** An archived message cannot be forked from, and its usage is not shown. */
  isArchived?: boolean;
  onFork?: (messageId: number) => void;
};

/** While an answer streams, the list renders its rows every frame; unchanged messages are not rendered again. */
export class MessageView extends Component<MessageProps> {
  override shouldComponentUpdate(next: MessageProps): boolean {
    const { message, results, conversation } = this.props;
    if (next.message !== message || next.conversation !== conversation || next.results.length !== results.length) return true;
    return next.results.some((result, at) => result?.message !== results[at]?.message);
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
  const { conversation, message } = props;
  const media = parseMedia(message.content);
  const text = parseText(message.content);
  return (
    <article class="message message-user" aria-label={`You, ${formatTime(message.timestamp)}`} tabIndex={-1}>
      <div class="bubble">
        {media.length > 0 && <MediaList pid={conversation.pid} media={media} />}
        {text !== "" && <p class="bubble-text">{text}</p>}
      </div>
      <MessageTools {...props} text={text} />
    </article>
  );
}

function AgentMessage(props: MessageProps) {
  const { conversation, message, results } = props;
  const text = parseText(message.content);
  return (
    <article class="message message-agent" aria-label={`Agent, ${formatTime(message.timestamp)}`} tabIndex={-1}>
      <Thoughts thoughts={parseReasoning(message.content)} />
      {text.trim() !== "" && <Lazy load={loadMarkdown} props={{ text }} />}
      {parseToolCalls(message.content).map((call, at) => (
        <ToolCard key={call.id} conversation={conversation} call={call} result={results[at] ?? null} />
      ))}
      {isStopped(message.content) && <p class="message-stopped">Stopped here</p>}
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

export function Thoughts({ thoughts, isStreaming = false }: { thoughts: readonly string[]; isStreaming?: boolean }) {
  const [isOpen, setOpen] = useState(false);
  if (thoughts.length === 0) return null;
  return (
    <div class="thoughts">
      <button type="button" class="thoughts-head" aria-expanded={isOpen ? "true" : "false"} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? "down" : "right"} />
        {isStreaming ? "Thinking" : "Reasoning"}
      </button>
      {isOpen && <div class="thoughts-text">{thoughts.join("\n\n")}</div>}
    </div>
  );
}

const timeFormat = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

export function formatTime(at: number): string {
  return timeFormat.format(at);
}
