// The actions of a message: copy it, edit or retry it, fork the conversation from it, and show its time and cost. The cost is read only
// when opened.

import { useState } from "preact/hooks";
import { call, describeError, type Result } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { copyText } from "./copy-text.ts";
import type { MessageProps } from "./message.tsx";
import { formatCost, formatTokens } from "./format-usage.ts";
import { formatExactly } from "../ui/format-time.ts";

/** How long a button says that it copied. */
const COPIED_MS = 2_000;

type Usage = NonNullable<Result<"proc.usage">["messages"]>[number]["usage"];

type ToolsProps = MessageProps & { text: string; onEdit?: () => void };

export function MessageTools({ conversation, message, text, actions, isLast = false, onEdit }: ToolsProps) {
  const [usage, setUsage] = useState<Usage | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    setCopied(await copyText(text));
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  const toggleDetails = async () => {
    setOpen(!isOpen);
    if (usage !== null || isOpen || actions === undefined) return;
    try {
      const { messages } = await call("proc.usage", { pid: conversation.pid, messageIds: [message.id] });
      setUsage(messages?.[0]?.usage ?? []);
    } catch (error) {
      showNotice(describeError(error), "bad");
    }
  };
  return (
    <div class="message-tools" data-open={isOpen} data-last={isLast}>
      <IconButton icon={isCopied ? "check" : "copy"} label={isCopied ? "Copied" : "Copy the message"} onClick={() => void copy()} />
      {actions !== undefined && (
        <>
          {onEdit !== undefined && <IconButton icon="edit" label="Edit and resend" onClick={onEdit} />}
          {isLast && (
            <>
              {message.role === "user" ? (
                <Button look="quiet" icon="refresh" onClick={() => actions.retry(message)}>
                  Retry
                </Button>
              ) : (
                <IconButton icon="refresh" label="Retry" onClick={() => actions.retry(message)} />
              )}
              <IconButton icon="swap" label="Retry with another model" onClick={() => actions.retryWith(message)} />
            </>
          )}
          <IconButton icon="fork" label="Fork from here" onClick={() => actions.fork(message.id)} />
        </>
      )}
      <IconButton icon="info" label="Time and cost" aria-expanded={isOpen ? "true" : "false"} onClick={() => void toggleDetails()} />
      {isOpen && (
        <span class="message-details" role="status">
          {formatExactly(message.timestamp)}
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
