// Why a run failed, in words, and what to do about it: retry, open the settings that mend it, copy the details.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import type { Conversation } from "../state/conversation.ts";
import type { HistoryMessage } from "../state/history-window.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { copyText } from "./copy-text.ts";
import { adviseOnFailure } from "./failure-advice.ts";

type FailureProps = {
  conversation: Conversation;
  message: HistoryMessage;
  text: string;
  /** Missing in an archive. */
  onRetry: ((message: HistoryMessage) => void) | undefined;
};

/** Longer messages of providers are cut: the details have all of it. */
const TEXT_CHARS = 600;

export function RunFailure({ conversation, message, text, onRetry }: FailureProps) {
  const [isCopied, setCopied] = useState(false);
  const { words, settings } = adviseOnFailure(text);
  // Only the newest failure: what came after a failure would be lost.
  const isNewest = conversation.window.view?.messages.at(-1)?.id === message.id;
  const copy = async () => {
    const { pid, id } = conversation;
    const details = [
      text,
      `agent ${pid}`,
      `conversation ${id}`,
      `run ${message.runId ?? "unknown"}`,
      new Date(message.timestamp).toISOString(),
    ];
    setCopied(await copyText(details.join("\n")));
  };
  return (
    <article class="message message-failed" aria-label="A run ended with an error">
      <Icon name="warning" />
      <div class="failure">
        <p>{words}</p>
        <p class="failure-text">{makeVisible(text.length > TEXT_CHARS ? `${text.slice(0, TEXT_CHARS)}…` : text)}</p>
        <div class="row">
          {isNewest && onRetry !== undefined && (
            <Button icon="refresh" onClick={() => onRetry(message)}>
              Retry
            </Button>
          )}
          {settings !== null && (
            <Link class="button button-plain" to={settings.path}>
              {settings.label}
            </Link>
          )}
          <Button look="quiet" icon={isCopied ? "check" : "copy"} onClick={() => void copy()}>
            {isCopied ? "Copied" : "Copy details"}
          </Button>
        </div>
      </div>
    </article>
  );
}
