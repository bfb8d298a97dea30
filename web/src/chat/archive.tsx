// The marker of archived messages, with their summary. It opens the archive in place, one page at a time, and can fork a
// conversation from it.

import { useState } from "preact/hooks";
import { Lazy } from "../frame/lazy.tsx";
import { call, describeError } from "../state/call.ts";
import type { Conversation, Segment } from "../state/conversation.ts";
import { showNotice } from "../state/notices.ts";
import type { HistoryMessage } from "../state/history-window.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Time } from "../ui/time.tsx";
import { openConversation } from "./conversation-links.ts";
import { conversationName } from "./conversation-names.ts";

const loadMarkdown = () => import("../markdown/markdown.tsx");
/** A separate chunk, loaded when the first archive is opened. */
const loadArchivedMessages = () => import("./archived-messages.tsx");
const PAGE = 50;

export function Archive({ conversation, segment, text }: { conversation: Conversation; segment: Segment; text: string }) {
  const [messages, setMessages] = useState<HistoryMessage[] | null>(null);
  const [total, setTotal] = useState(0);
  const [isBusy, setBusy] = useState(false);
  const ids = { pid: conversation.pid, conversationId: conversation.id, segmentId: segment.id };
  const readMore = async () => {
    setBusy(true);
    try {
      const page = await call("proc.conversation.segment.read", { ...ids, offset: messages?.length ?? 0, limit: PAGE });
      setMessages([...(messages ?? []), ...page.messages]);
      setTotal(page.messageCount);
    } catch (error) {
      showNotice(describeError(error), "bad");
    } finally {
      setBusy(false);
    }
  };
  const fork = async () => {
    try {
      const name = conversationName(conversation.info.value.peek() ?? { id: conversation.id, title: null });
      const { targetConversation } = await call("proc.conversation.fork", { ...ids, title: `${name} (fork)` });
      openConversation(conversation.pid, targetConversation.id);
    } catch (error) {
      showNotice(describeError(error), "bad");
    }
  };
  return (
    <section class="archive" aria-label="Archived messages">
      <header class="archive-head">
        <Icon name="archive" />
        <span>
          Older messages were archived <Time at={segment.createdAt} />
        </span>
        <Button look="quiet" busy={isBusy} onClick={() => (messages === null ? void readMore() : setMessages(null))}>
          {messages === null ? "Show them" : "Hide them"}
        </Button>
        <Button look="quiet" onClick={() => void fork()}>
          Fork from them
        </Button>
      </header>
      {messages !== null && (
        <div class="archive-messages">
          <Lazy load={loadArchivedMessages} props={{ conversation, messages, segmentId: segment.id }} />
          {messages.length < total && (
            <Button busy={isBusy} onClick={() => void readMore()}>{`Show more of ${total.toLocaleString("en")}`}</Button>
          )}
        </div>
      )}
      <details class="archive-summary">
        <summary>Summary the agent goes on with</summary>
        <Lazy load={loadMarkdown} props={{ text }} />
      </details>
    </section>
  );
}
