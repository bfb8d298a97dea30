// One conversation: header, messages, background commands, queue and composer.

import { computed } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useActions } from "../frame/actions.ts";
import { usePaneTitle } from "../frame/titles.ts";
import { call, describeError } from "../state/call.ts";
import { Conversation } from "../state/conversation.ts";
import { showNotice } from "../state/notices.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Composer } from "./composer.tsx";
import { ConversationDialog, type DialogName } from "./conversation-dialogs.tsx";
import { ConversationHead } from "./conversation-head.tsx";
import { Messages } from "./messages.tsx";
import { conversationName, makeTitle } from "./conversation-names.ts";
import { DEFAULT_CONVERSATION, pendingJump, lastShownPid, createConversation, openConversation } from "./conversation-links.ts";
import { Queue } from "./queue.tsx";
import { messageKey } from "./message-rows.ts";
import { Search } from "./search.tsx";
import { BackgroundCommands } from "./background-commands.tsx";
import { stopRun } from "./stop-run.ts";
import type { ListHandle } from "./virtual-list.tsx";
import "./conversation.css";

/** Long enough for a screen reader to notice the text. */
const ANNOUNCEMENT_MS = 10_000;

type ViewProps = { pid: string; id: string; isNarrow: boolean; isNamed: boolean };

export function ConversationView({ pid, id, isNarrow, isNamed }: ViewProps) {
  const conversation = useMemo(() => new Conversation(pid, id), [pid, id]);
  useEffect(() => () => conversation.close(), [conversation]);
  const [dialog, setDialog] = useState<DialogName | "search" | null>(null);
  const list = useRef<ListHandle | null>(null);
  const [foundKey, setFoundKey] = useState<string | null>(null);
  const info = conversation.info.value.value;
  usePaneTitle(isNamed ? conversationName(info ?? { id, title: null }) : null);
  const section = useRef<HTMLElement>(null);
  useActions(() => makeConversationActions(conversation, setDialog, () => focusComposer(section.current)), [conversation]);
  useClearAnnouncement(conversation);
  useEffect(() => {
    lastShownPid.value = pid;
  }, [pid]);

  const fork = async (messageId: number) => {
    try {
      const title = `${conversationName(info ?? { id, title: null })} (fork)`;
      const made = await call("proc.conversation.fork", { pid, conversationId: id, throughMessageId: messageId, title });
      openConversation(pid, made.targetConversation.id);
    } catch (error) {
      showNotice(describeError(error), "bad");
    }
  };
  const reopen = async () => {
    try {
      await call("proc.conversation.open", { pid, conversationId: id });
    } catch (error) {
      showNotice(describeError(error), "bad");
    }
  };
  const handleSend = (text: string) => {
    const view = conversation.window.peek();
    if (view !== null && view.from + view.messages.length < view.total) void conversation.window.reload().catch(() => {});
    list.current?.scrollToEnd();
    const isUntitled = info !== null && info.title === null && id !== DEFAULT_CONVERSATION && (view?.total ?? 0) === 0;
    if (isUntitled && text !== "") call("proc.conversation.open", { pid, conversationId: id, title: makeTitle(text) }).catch(() => {});
  };
  useEffect(() => {
    const to = pendingJump.value;
    if (to === null || to.pid !== pid || to.conversationId !== id) return;
    pendingJump.value = null;
    void conversation.window.readAround(to.position).then(
      () => {
        const { from = 0, messages = [] } = conversation.window.peek() ?? {};
        const messageId = to.messageId ?? messages[to.position - from]?.id;
        if (messageId === undefined) return;
        setFoundKey(messageKey(messageId));
        list.current?.scrollToRow(messageKey(messageId));
      },
      (error: unknown) => showNotice(describeError(error), "bad"),
    );
  }, [conversation, pendingJump.value]);

  const problem = conversation.problem.value;
  const view = conversation.window.view;
  const isEmpty = useMemo(
    () =>
      computed(
        () =>
          conversation.window.view?.total === 0 &&
          conversation.outbox.messages.length === 0 &&
          conversation.pendingAnswers.value.length === 0,
      ),
    [conversation],
  ).value;
  return (
    <section class="conversation" aria-label="Conversation" ref={section}>
      <ConversationHead
        conversation={conversation}
        isNarrow={isNarrow}
        isNamed={isNamed}
        onDialog={setDialog}
        onReopen={() => void reopen()}
      />
      {problem !== null && (
        <Banner tone="bad" actions={<Button onClick={() => void conversation.window.reload().catch(() => {})}>Try again</Button>}>
          {problem}
        </Banner>
      )}
      {view === null ? (
        <div class="conversation-wait">{problem === null && <Skeleton label="Loading the conversation" lines={5} />}</div>
      ) : isEmpty ? (
        <div class="conversation-wait">
          <EmptyState
            icon="chat"
            title="What shall be done?"
            text="Ask something, or say what to do on the gateway or one of your machines."
          />
        </div>
      ) : (
        <Messages conversation={conversation} list={list} foundKey={foundKey} onFork={(messageId) => void fork(messageId)} />
      )}
      <div class="conversation-foot">
        <BackgroundCommands pid={pid} />
        <Queue conversation={conversation} />
        <Composer
          key={`${pid} ${id}`}
          conversation={conversation}
          isClosed={info?.status === "closed"}
          onSend={handleSend}
          onReopen={() => void reopen()}
        />
      </div>
      <p class="unseen" role="status" aria-live="polite">
        {conversation.announcement.value}
      </p>
      {dialog === "search" && <Search conversation={conversation} onClose={() => setDialog(null)} />}
      {dialog !== null && dialog !== "search" && (
        <ConversationDialog name={dialog} conversation={conversation} onClose={() => setDialog(null)} />
      )}
    </section>
  );
}

function makeConversationActions(conversation: Conversation, show: (dialog: DialogName | "search") => void, write: () => void) {
  const group = "Chat";
  return [
    { id: "chat.search", title: "Search this conversation", group, keys: "/", words: "find history", run: () => show("search") },
    {
      id: "chat.new",
      title: "New conversation with this agent",
      group,
      keys: "n",
      words: "start begin thread",
      run: () => void createConversation(conversation.pid),
    },
    { id: "chat.rename", title: "Rename this conversation", group, words: "title", run: () => show("rename") },
    { id: "chat.compact", title: "Compact older messages", group, words: "archive summary context", run: () => show("compact") },
    {
      id: "chat.policy",
      title: "Choose what happens when the context is full",
      group,
      words: "policy overflow",
      run: () => show("policy"),
    },
    { id: "chat.reset", title: "Reset this conversation", group, words: "clear empty", run: () => show("reset") },
    { id: "chat.kill", title: "End this agent", group, words: "kill process", run: () => show("kill") },
    { id: "chat.write", title: "Write a message", group, keys: "i", words: "compose", run: write },
    { id: "chat.stop", title: "Stop what runs here", group, keys: "escape", words: "abort cancel", run: () => stopIfRunning(conversation) },
  ];
}

function focusComposer(section: HTMLElement | null): void {
  section?.querySelector<HTMLElement>(".composer-field")?.focus();
}

function stopIfRunning(conversation: Conversation): void {
  if (conversation.run.peek() === null) return;
  void stopRun(conversation);
}

/** Removes announced text, which a search in the page would otherwise find twice. */
function useClearAnnouncement({ announcement }: Conversation): void {
  const announced = announcement.value;
  useEffect(() => {
    if (announced === "") return;
    const timer = setTimeout(() => (announcement.value = ""), ANNOUNCEMENT_MS);
    return () => clearTimeout(timer);
  }, [announced]);
}
