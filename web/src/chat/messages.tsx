// The messages of a conversation as a virtualized list.

import { useMemo, useState } from "preact/hooks";
import type { Conversation } from "../state/conversation.ts";
import type { OutgoingMessage } from "../state/outbox.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { StreamedMessage } from "./streamed-message.tsx";
import { FileLabel } from "./media.tsx";
import type { MessageActions } from "./message-actions.ts";
import { MessageView } from "./message.tsx";
import { estimateHeight, makeHistoryRows, type Row, makeTailRows } from "./message-rows.ts";
import { ToolGroup } from "./tool-group.tsx";
import { WorkingRow } from "./working-row.tsx";
import { type ListHandle, VirtualList } from "./virtual-list.tsx";
import { formatDay } from "../ui/format-time.ts";

type MessagesProps = {
  conversation: Conversation;
  list: { current: ListHandle | null };
  /** Key of the row that a search opened. */
  foundKey: string | null;
  actions: MessageActions;
};

export function Messages({ conversation, list, foundKey, actions }: MessagesProps) {
  const [isFollowing, setFollowing] = useState(true);
  const view = conversation.window.view!;
  const history = useMemo(() => makeHistoryRows(view), [view]);
  const isAtNewest = view.from + view.messages.length >= view.total;
  const rows = isAtNewest
    ? [
        ...history,
        ...makeTailRows({
          pendingAnswers: conversation.pendingAnswers.value,
          outgoing: conversation.outbox.messages,
          questions: conversation.questions.value.value ?? [],
          isWorking: conversation.run.value !== null,
        }),
      ]
    : history;
  const last = isAtNewest && conversation.run.value === null ? rows.at(-1) : undefined;
  const hasQuestion = (conversation.questions.value.value ?? []).length > 0;
  const ignoreErrors = (reading: Promise<void>) => void reading.catch(() => {});
  const scrollToNewest = () => {
    if (!isAtNewest) ignoreErrors(conversation.window.reload());
    list.current?.scrollToEnd();
  };
  return (
    <div class="messages">
      <VirtualList
        rows={rows}
        label="Messages"
        estimateHeight={estimateHeight}
        render={(row) => (
          <div class={row.key === foundKey ? "row-found" : undefined}>
            <RowView row={row} conversation={conversation} actions={actions} isLast={row === last} />
          </div>
        )}
        resetKey={view.reloads}
        isAtNewest={isAtNewest}
        onNearTop={() => view.from > 0 && ignoreErrors(readOnce(conversation, "readOlder"))}
        onNearEnd={() => ignoreErrors(readOnce(conversation, "readNewer"))}
        onFollowing={setFollowing}
        handle={list}
      />
      {!(isFollowing && isAtNewest) && (
        <button type="button" class="to-newest" data-asked={hasQuestion} onClick={scrollToNewest}>
          <Icon name="down" />
          {hasQuestion ? "The agent asks you" : "Newest"}
        </button>
      )}
    </div>
  );
}

/** Scrolling requests the same page many times; one read per conversation runs at a time. */
const runningReads = new WeakMap<Conversation, Promise<void>>();

function readOnce(conversation: Conversation, method: "readOlder" | "readNewer"): Promise<void> {
  const running = runningReads.get(conversation);
  if (running !== undefined) return running;
  const read = conversation.window[method]().finally(() => runningReads.delete(conversation));
  runningReads.set(conversation, read);
  return read;
}

type RowProps = { row: Row; conversation: Conversation; actions: MessageActions; isLast: boolean };

function RowView({ row, conversation, actions, isLast }: RowProps) {
  switch (row.kind) {
    case "older":
      return (
        <div class="row-older">
          <Spinner label="Loading older messages" />
        </div>
      );
    case "day":
      return <h3 class="row-day">{formatDay(row.at)}</h3>;
    case "message":
      return <MessageView conversation={conversation} message={row.message} actions={actions} isLast={isLast} />;
    case "tools":
      return <ToolGroup conversation={conversation} steps={row.steps} />;
    case "streamed":
      return <StreamedMessage conversation={conversation} answer={row.answer} />;
    case "question":
      return <p class="row-asked">Waiting for your answer below</p>;
    case "outgoing":
      return <OutgoingMessageView conversation={conversation} outgoing={row.outgoing} />;
    case "working":
      return <WorkingRow conversation={conversation} />;
  }
}

function OutgoingMessageView({ conversation, outgoing }: { conversation: Conversation; outgoing: OutgoingMessage }) {
  const { runId, text, media, problem, lostFiles } = outgoing;
  return (
    <article class="message message-user message-outgoing" aria-label={problem === null ? "You, being sent" : "You, not sent"}>
      <div class="bubble">
        {media.map(({ filename, mimeType, size }, at) => (
          <FileLabel key={at} media={{ filename: filename ?? null, mimeType, size: size ?? null, url: null }} />
        ))}
        {text !== "" && <p class="bubble-text">{text}</p>}
      </div>
      {problem !== null && (
        <Banner
          tone="bad"
          actions={
            <>
              <Button onClick={() => void conversation.resend(runId)}>{lostFiles === 0 ? "Send again" : "Send without files"}</Button>
              <Button look="quiet" onClick={() => conversation.outbox.removeWhere((one) => one.runId === runId)}>
                Discard
              </Button>
            </>
          }
        >
          {problem}
        </Banner>
      )}
    </article>
  );
}
