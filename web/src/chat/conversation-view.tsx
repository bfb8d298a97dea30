// One conversation: what it shows in the title bar, messages, background commands, queue and composer.

import { computed } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { PinnedQuestions } from "../approvals/pinned-questions.tsx";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { joinPath } from "../frame/route.ts";
import { useActions } from "../frame/actions.ts";
import { usePaneActions, usePaneTitle } from "../frame/titles.ts";
import { agentName, findAgent } from "../state/agents.ts";
import { call, describeError } from "../state/call.ts";
import { Conversation } from "../state/conversation.ts";
import { showNotice } from "../state/notices.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Composer, type ComposerHandle } from "./composer.tsx";
import { ConversationDialog, type DialogName } from "./conversation-dialogs.tsx";
import { ConversationHead, type HeadAction } from "./conversation-head.tsx";
import { EmptyConversation } from "./empty-conversation.tsx";
import { Messages } from "./messages.tsx";
import { conversationName, makeTitle } from "./conversation-names.ts";
import { DEFAULT_CONVERSATION, pendingJump, lastShownPid, createConversation, openConversation } from "./conversation-links.ts";
import type { HistoryMessage } from "../state/history-window.ts";
import type { MessageActions } from "./message-actions.ts";
import { resendMessage, retryAnswer } from "./resend.ts";
import { RetryDialog } from "./retry-dialog.tsx";
import { Queue } from "./queue.tsx";
import { findRowOfMessage, makeHistoryRows } from "./message-rows.ts";
import { purposeOfAskingScript } from "./scripts.ts";
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
  const [isRenaming, setRenaming] = useState(false);
  const [retrying, setRetrying] = useState<HistoryMessage | null>(null);
  const list = useRef<ListHandle | null>(null);
  const composer = useRef<ComposerHandle | null>(null);
  const [foundKey, setFoundKey] = useState<string | null>(null);
  const info = conversation.info.value.value;
  const title = titleOf(pid, info ?? { id, title: null });
  usePaneTitle(isNamed ? title : null);
  const section = useRef<HTMLElement>(null);
  const runAction = (action: HeadAction) => {
    if (action === "rename") setRenaming(true);
    else if (action === "export") void exportAsFile(conversation, title);
    else setDialog(action);
  };
  const reopen = async () => {
    try {
      await call("proc.conversation.open", { pid, conversationId: id });
    } catch (error) {
      showNotice(describeError(error), "bad");
    }
  };
  usePaneActions(
    useMemo(
      () => (
        <ConversationHead
          conversation={conversation}
          isNarrow={isNarrow}
          isRenaming={isRenaming}
          onAction={runAction}
          onRenamed={() => setRenaming(false)}
          onReopen={() => void reopen()}
        />
      ),
      [conversation, isNarrow, isRenaming, title],
    ),
  );
  useActions(() => makeConversationActions(conversation, runAction, () => focusComposer(section.current)), [conversation, title]);
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
  const actions = useMemo<MessageActions>(
    () => ({
      fork: (messageId) => void fork(messageId),
      retry: (answer) => void retryAnswer(conversation, answer),
      retryWith: setRetrying,
      edit: (message, text) => resendMessage(conversation, message, { text }),
    }),
    [conversation, title],
  );
  const handleSend = (text: string) => {
    const view = conversation.window.peek();
    if (view !== null && view.from + view.messages.length < view.total) void conversation.window.reload().catch(() => {});
    list.current?.scrollToEnd();
    const mayNeedTitle = id !== DEFAULT_CONVERSATION && (view?.total ?? 0) === 0;
    // Without a title it stays "New conversation", which is no reason for an error.
    if (mayNeedTitle && text !== "") setMissingTitle(conversation, makeTitle(text)).catch(() => {});
  };
  useEffect(() => {
    const to = pendingJump.value;
    if (to === null || to.pid !== pid || to.conversationId !== id) return;
    pendingJump.value = null;
    void conversation.window.readAround(to.position).then(
      () => {
        const { from = 0, messages = [] } = conversation.window.peek() ?? {};
        const messageId = to.messageId ?? messages[to.position - from]?.id;
        const row = messageId === undefined ? null : findRowOfMessage(makeHistoryRows({ from, messages }), messageId);
        if (row === null) return;
        setFoundKey(row.key);
        list.current?.scrollToRow(row.key);
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
      <h2 class="unseen">Messages</h2>
      {info?.startedBy != null && (
        <p class="conversation-origin">
          Started by the schedule <Link to={joinPath("schedules", info.startedBy.id)}>{makeVisible(info.startedBy.name)}</Link>
        </p>
      )}
      {problem !== null && (
        <Banner tone="bad" actions={<Button onClick={() => conversation.retry()}>Try again</Button>}>
          {problem}
        </Banner>
      )}
      {view === null ? (
        <div class="conversation-wait">{problem === null && <Skeleton label="Loading the conversation" lines={5} />}</div>
      ) : isEmpty ? (
        <div class="conversation-wait">
          <EmptyConversation conversation={conversation} onSuggestion={(text) => composer.current?.fill(text)} />
        </div>
      ) : (
        <Messages conversation={conversation} list={list} foundKey={foundKey} actions={actions} />
      )}
      <div class="conversation-foot">
        <BackgroundCommands pid={pid} />
        <Queue conversation={conversation} />
        <PinnedQuestions conversation={conversation} purposeOf={(question) => purposeOfAskingScript(conversation, question)} />
        <Composer
          key={`${pid} ${id}`}
          conversation={conversation}
          handle={composer}
          isClosed={info?.status === "closed"}
          onSend={handleSend}
          onReopen={() => void reopen()}
        />
      </div>
      <p class="unseen" role="status" aria-live="polite">
        {conversation.announcement.value}
      </p>
      {retrying !== null && (
        <RetryDialog
          onClose={() => setRetrying(null)}
          onModel={(model) => {
            setRetrying(null);
            void retryAnswer(conversation, retrying, { model });
          }}
        />
      )}
      {dialog === "search" && <Search conversation={conversation} onClose={() => setDialog(null)} />}
      {dialog !== null && dialog !== "search" && (
        <ConversationDialog name={dialog} conversation={conversation} onClose={() => setDialog(null)} />
      )}
    </section>
  );
}

/** The default conversation of an agent is called by the agent's name. */
function titleOf(pid: string, info: { id: string; title: string | null }): string {
  const agent = findAgent(pid);
  return info.id === DEFAULT_CONVERSATION && info.title === null && agent !== null ? agentName(agent) : conversationName(info);
}

/** Whoever writes at once is ahead of what the page knows of the conversation. */
async function setMissingTitle({ pid, id: conversationId, info }: Conversation, title: string): Promise<void> {
  const known = info.value.peek() ?? (await call("proc.conversation.get", { pid, conversationId })).conversation;
  if (known === null || known.title === null) await call("proc.conversation.open", { pid, conversationId, title });
}

async function exportAsFile(conversation: Conversation, title: string): Promise<void> {
  try {
    const { saveConversation } = await import("./export-conversation.ts");
    await saveConversation(conversation.pid, conversation.id, title);
  } catch (error) {
    showNotice(describeError(error), "bad");
  }
}

function makeConversationActions(conversation: Conversation, show: (action: HeadAction) => void, write: () => void) {
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
    { id: "chat.export", title: "Export this conversation as Markdown", group, words: "download save", run: () => show("export") },
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
