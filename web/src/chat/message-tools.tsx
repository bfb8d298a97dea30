// What can be done with a message: copy it, go on from it in another conversation, and see when it was said and what it
// cost, which is asked for only then.

import { useState } from "preact/hooks";
import { call, describeError, type Result } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { IconButton } from "../ui/button.tsx";
import type { MessageProps } from "./message.tsx";
import { costText, tokensText } from "./numbers.ts";

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
  const details = async () => {
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
      <IconButton icon="info" label="Time and cost" aria-expanded={isOpen ? "true" : "false"} onClick={() => void details()} />
      {isOpen && (
        <span class="message-details" role="status">
          {exact.format(message.timestamp)}
          {(usage ?? []).map(({ provider, model, input, output, cacheRead, cost }, at) => (
            <span key={at}>
              {` · ${provider}/${model} · ${tokensText(input + cacheRead)} in, ${tokensText(output)} out · ${costText(cost)}`}
            </span>
          ))}
        </span>
      )}
    </div>
  );
}
