// What a conversation adds to the title bar of its pane: a back link on a narrow screen, the agent's name, search, and a menu of
// actions. The title is renamed in place.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { agentName, findAgent } from "../state/agents.ts";
import { call, describeError } from "../state/call.ts";
import type { Conversation } from "../state/conversation.ts";
import { showNotice } from "../state/notices.ts";
import { Link } from "../frame/link.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import type { DialogName } from "./conversation-dialogs.tsx";
import { DEFAULT_CONVERSATION } from "./conversation-links.ts";
import { conversationName } from "./conversation-names.ts";

export type HeadAction = DialogName | "search" | "rename" | "export";
type HeadProps = {
  conversation: Conversation;
  isNarrow: boolean;
  isRenaming: boolean;
  onAction: (action: HeadAction) => void;
  onRenamed: () => void;
  onReopen: () => void;
};

export function ConversationHead({ conversation, isNarrow, isRenaming, onAction, onRenamed, onReopen }: HeadProps) {
  const { pid, id: conversationId } = conversation;
  const info = conversation.info.value.value;
  const close = async () => {
    try {
      await call("proc.conversation.close", { pid, conversationId });
    } catch (error) {
      showNotice(describeError(error), "bad");
    }
  };
  const pin = async () => {
    try {
      await call("proc.conversation.update", { pid, conversationId, isPinned: info?.isPinned !== true });
    } catch (error) {
      showNotice(describeError(error), "bad");
    }
  };
  const isClosed = info?.status === "closed";
  return (
    <>
      {isNarrow && (
        <Link class="icon-button conversation-back" to="/chat" aria-label="All agents">
          <Icon name="back" />
        </Link>
      )}
      {isRenaming ? (
        <RenameField conversation={conversation} onClose={onRenamed} />
      ) : (
        <span class="conversation-agent">{agentSubtitle(pid, info)}</span>
      )}
      {!isNarrow && <IconButton icon="search" label="Search this conversation" onClick={() => onAction("search")} />}
      <Menu
        label="What to do with this conversation"
        items={[
          ...(isNarrow ? [{ title: "Search", icon: "search" as const, run: () => onAction("search") }] : []),
          { title: "Rename", icon: "edit", run: () => onAction("rename") },
          { title: info?.isPinned === true ? "Unpin" : "Pin", icon: "pin", run: () => void pin() },
          { title: "Export as Markdown", icon: "download", run: () => onAction("export") },
          { title: "Earlier versions", icon: "schedule", run: () => onAction("versions") },
          { title: "Compact older messages", icon: "archive", run: () => onAction("compact") },
          { title: "When the context is full", icon: "settings", run: () => onAction("policy") },
          isClosed
            ? { title: "Open again", icon: "refresh", run: onReopen }
            : { title: "Close conversation", icon: "check", run: () => void close() },
          { title: "Reset conversation", icon: "refresh", danger: true, run: () => onAction("reset") },
          ...(conversationId === DEFAULT_CONVERSATION
            ? []
            : [{ title: "Delete conversation", icon: "trash" as const, danger: true, run: () => onAction("delete") }]),
          { title: "End the agent", icon: "stop", danger: true, run: () => onAction("kill") },
        ]}
      />
    </>
  );
}

/** Which agent it is, unless the title says so. */
function agentSubtitle(pid: string, info: { id: string; title: string | null } | null): string {
  const agent = findAgent(pid);
  if (agent === null || (info?.id === DEFAULT_CONVERSATION && info.title === null)) return "";
  return agentName(agent);
}

/** In place of the title: Enter saves, Escape leaves it as it was. */
function RenameField({ conversation, onClose }: { conversation: Conversation; onClose: () => void }) {
  const { pid, id: conversationId } = conversation;
  const [title, setTitle] = useState(conversationName(conversation.info.value.peek() ?? { id: conversationId, title: null }));
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  // The menu restores the focus to its button first.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const save = async () => {
    setBusy(true);
    try {
      await call("proc.conversation.update", { pid, conversationId, title: title.trim() });
      onClose();
    } catch (error) {
      showNotice(describeError(error), "bad");
      setBusy(false);
    }
  };
  return (
    <form
      class="conversation-rename"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <input
        ref={field}
        class="control"
        aria-label="Title"
        maxLength={200}
        value={title}
        onInput={(event) => setTitle(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          onClose();
        }}
      />
      <Button type="submit" look="primary" busy={isBusy} disabled={title.trim() === ""}>
        Rename
      </Button>
      <IconButton icon="close" label="Cancel" onClick={onClose} />
    </form>
  );
}
