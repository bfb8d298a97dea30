// The message field of the start page: starts a new conversation with the personal agent.

import { useRef, useState } from "preact/hooks";
import { openConversation } from "../chat/conversation-links.ts";
import { makeTitle } from "../chat/conversation-names.ts";
import { sortedAgents } from "../state/agents.ts";
import { call } from "../state/call.ts";
import { randomUuid } from "../state/random-uuid.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";

export function StartTask() {
  const [text, setText] = useState("");
  const operation = useOperation();
  /** The same message stays the same when it is sent again after a failure. */
  const ids = useRef<{ runId: string; conversationId: string } | null>(null);
  const pid = sortedAgents.value?.find(({ profile }) => profile === "init")?.pid;
  const send = (event: Event) => {
    event.preventDefault();
    const message = text.trim();
    if (message === "" || pid === undefined || operation.isBusy) return;
    ids.current ??= { runId: randomUuid(), conversationId: randomUuid() };
    const { runId, conversationId } = ids.current;
    void operation.run(async () => {
      await call("proc.conversation.open", { pid, conversationId, title: makeTitle(message) });
      await call("proc.send", { pid, conversationId, message, runId });
      openConversation(pid, conversationId);
    });
  };
  return (
    <form class="start-task" onSubmit={send}>
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      <div class="start-box">
        <textarea
          class="start-field"
          rows={1}
          aria-label="New task"
          placeholder="What would you like to do?"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            ids.current = null;
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
          }}
        />
        <button type="submit" class="start-send" aria-label="Send" title="Send (Enter)" disabled={text.trim() === "" || pid === undefined}>
          {operation.isBusy ? <Spinner /> : <Icon name="send" />}
        </button>
      </div>
    </form>
  );
}
