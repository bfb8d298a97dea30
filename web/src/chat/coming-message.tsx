// The answer that is just coming, as far as it has come.

import { Lazy } from "../frame/lazy.tsx";
import type { Conversation } from "../state/conversation.ts";
import type { Coming } from "../state/live-answer.ts";
import { callOf } from "./content.ts";
import { Thoughts } from "./message.tsx";
import { ToolCard } from "./tool-card.tsx";

const markdown = () => import("../markdown/markdown.tsx");

export function ComingMessage({ conversation, answer }: { conversation: Conversation; answer: Coming }) {
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
