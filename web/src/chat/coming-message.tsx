// The answer that is arriving, as far as it has arrived.

import { Component } from "preact";
import { Lazy } from "../frame/lazy.tsx";
import type { StreamedAnswer } from "../../../src/client/client.ts";
import type { Conversation } from "../state/conversation.ts";
import { callOf } from "./content.ts";
import { Thoughts } from "./message.tsx";
import { ToolCard } from "./tool-card.tsx";

const markdown = () => import("../markdown/markdown.tsx");

type ComingProps = { conversation: Conversation; answer: StreamedAnswer };

/** The list makes its rows anew for other reasons, too: what has not grown is not read again. */
export class ComingMessage extends Component<ComingProps> {
  override shouldComponentUpdate({ conversation, answer }: ComingProps): boolean {
    return answer !== this.props.answer || conversation !== this.props.conversation;
  }

  render({ conversation, answer }: ComingProps) {
    const blocks = answer.blocks.filter((block) => block !== undefined);
    const thoughts = blocks.flatMap((block) => (block.type === "thinking" && block.thinking.trim() !== "" ? [block.thinking] : []));
    const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
    return (
      <article class="message message-agent message-coming" aria-label="Agent, answering" aria-busy="true">
        <Thoughts thoughts={thoughts} isComing />
        {text.trim() !== "" && <Lazy load={markdown} props={{ text }} />}
        {blocks.map((block) =>
          block.type === "toolCall" ? (
            <ToolCard key={block.id} conversation={conversation} call={callOf(block)} result={null} isComing />
          ) : null,
        )}
      </article>
    );
  }
}
