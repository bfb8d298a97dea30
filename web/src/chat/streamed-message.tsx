// A streamed answer, as far as it has arrived.

import { Component } from "preact";
import { Lazy } from "../frame/lazy.tsx";
import type { StreamedAnswer } from "../../../src/client/client.ts";
import type { Conversation } from "../state/conversation.ts";
import { parseToolCall } from "./message-content.ts";
import { Thoughts } from "./thoughts.tsx";
import { ToolCard } from "./tool-card.tsx";

const loadMarkdown = () => import("../markdown/markdown.tsx");

type StreamedMessageProps = { conversation: Conversation; answer: StreamedAnswer };

/** The list also renders its rows for other reasons; an unchanged answer is not parsed again. */
export class StreamedMessage extends Component<StreamedMessageProps> {
  override shouldComponentUpdate({ conversation, answer }: StreamedMessageProps): boolean {
    return answer !== this.props.answer || conversation !== this.props.conversation;
  }

  render({ conversation, answer }: StreamedMessageProps) {
    const blocks = answer.blocks.filter((block) => block !== undefined);
    const thoughts = blocks.flatMap((block) => (block.type === "thinking" && block.thinking.trim() !== "" ? [block.thinking] : []));
    const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
    return (
      <article class="message message-agent message-coming" aria-label="Agent, answering" aria-busy="true">
        <Thoughts thoughts={thoughts} isStreaming />
        {text.trim() !== "" && <Lazy load={loadMarkdown} props={{ text }} />}
        {blocks.map((block) =>
          block.type === "toolCall" ? (
            <ToolCard key={block.id} conversation={conversation} call={parseToolCall(block)} result={null} isStreaming />
          ) : null,
        )}
      </article>
    );
  }
}
