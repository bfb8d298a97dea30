// The actions of a message: copy it, fork the conversation from it, and show its time and cost. The cost is read only when
// opened.

import { useState } from "preact/hooks";
import { call, describeError, type Result } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { IconButton } from "../ui/button.tsx";
import type { MessageProps } from "./message.tsx";
import { formatCost, formatTokens } from "./format-usage.ts";

type Usage = NonNullable<Result<"proc.usage">["messages"]>[number]["usage"];
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function MessageTools({ conversation, message, text, isArchived = false, onFork }: MessageProps & { text: string }) {
  const [usage, setUsage] = useState<Usage | null>(null);
  const [isOpen, setOpen] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      showNotice("Copied");
    } catch {
      showNotice("This browser does not allow copying: select the text instead", "bad");
    }
  };
  const toggleDetails = async () => {
    setOpen(!isOpen);
    if (usage !== null || isOpen || isArchived) return;
    try {
      const { messages } = await call("proc.usage", { pid: conversation.pid, messageIds: [message.id] });
      setUsage(messages?.[0]?.usage ?? []);
    } catch (error) {
      showNotice(describeError(error), "bad");
    }
  };
  return (
    <div class="message-tools" data-open={isOpen}>
      <IconButton icon="copy" label="Copy the message" onClick={() => void copy()} />
      {!isArchived && onFork !== undefined && <IconButton icon="fork" label="Fork from here" onClick={() => onFork(message.id)} />}
      <IconButton icon="info" label="Time and cost" aria-expanded={isOpen ? "true" : "false"} onClick={() => void toggleDetails()} />
      {isOpen && (
        <span class="message-details" role="status">
          {exact.format(message.timestamp)}
          {(usage ?? []).map(({ provider, model, input, output, cacheRead, cost }, at) => (
            <span key={at}>
              {` · ${provider}/${model} · ${formatTokens(input + cacheRead)} in, ${formatTokens(output)} out · ${formatCost(cost)}`}
            </span>
          ))}
        </span>
      )}
    </div>
  );
}
