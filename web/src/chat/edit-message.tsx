// A message of the user while it is edited. The change is kept while the message is scrolled out of sight.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Conversation } from "../state/conversation.ts";
import type { HistoryMessage } from "../state/history-window.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import type { MessageActions } from "./message-actions.ts";

const edits = new Map<string, string>();

type EditProps = { conversation: Conversation; message: HistoryMessage; text: string; actions: MessageActions; onClose: () => void };

export function hasEdit(conversation: Conversation, message: HistoryMessage): boolean {
  return edits.has(editKey(conversation, message));
}

export function EditMessage({ conversation, message, text, actions, onClose }: EditProps) {
  const key = editKey(conversation, message);
  const [edited, setEdited] = useState(edits.get(key) ?? text);
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    edits.set(key, edited);
    field.current!.style.height = "auto";
    field.current!.style.height = `${field.current!.scrollHeight + 2}px`;
  }, [edited]);
  useLayoutEffect(() => {
    field.current?.focus({ preventScroll: true });
    field.current?.setSelectionRange(edited.length, edited.length);
  }, []);
  const close = () => {
    edits.delete(key);
    onClose();
  };
  const operation = useOperation();
  const send = async () => {
    if (edited.trim() === "" || operation.isBusy) return;
    if (await operation.run(() => actions.edit(message, edited.trim()))) close();
  };
  return (
    <div class="edit">
      <textarea
        ref={field}
        class="control control-tall"
        aria-label="Edit the message"
        value={edited}
        onInput={(event) => setEdited(event.currentTarget.value)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Escape") close();
          else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            void send();
          }
        }}
      />
      <p class="soft small">Messages after this one are archived. To see them again, open “Earlier versions” in the menu.</p>
      <div class="row">
        <Button look="primary" busy={operation.isBusy} disabled={edited.trim() === ""} onClick={() => void send()}>
          Send
        </Button>
        <Button onClick={close}>Cancel</Button>
      </div>
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
    </div>
  );
}

function editKey({ pid, id }: Conversation, message: HistoryMessage): string {
  return `${pid} ${id} ${message.id}`;
}
