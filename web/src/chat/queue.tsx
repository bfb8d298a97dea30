// The queued messages of a conversation. They can still be edited or removed.

import { useEffect, useRef, useState } from "preact/hooks";
import { call, describeError } from "../state/call.ts";
import type { Conversation, QueuedMessage } from "../state/conversation.ts";
import { copyText } from "./copy-text.ts";
import { showNotice } from "../state/notices.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { TextArea } from "../ui/text-area.tsx";
import "./queue.css";

export function Queue({ conversation }: { conversation: Conversation }) {
  const waiting = conversation.queue.value.value ?? [];
  const [isBusy, setBusy] = useState(false);
  if (waiting.length === 0) return null;
  const heldCount = waiting.filter(({ paused }) => paused === true).length;
  const resume = async () => {
    setBusy(true);
    await conversation.resumeQueue().catch((error: unknown) => showNotice(describeError(error), "bad"));
    setBusy(false);
  };
  return (
    <section class="queue" aria-label="Queued messages">
      <div class="queue-head">
        <h3 class="queue-title">{formatQueueTitle(waiting.length, heldCount)}</h3>
        {heldCount > 0 && (
          <Button busy={isBusy} onClick={() => void resume()}>
            {heldCount === 1 ? "Send now" : "Send them now"}
          </Button>
        )}
      </div>
      <ol class="queue-list">
        {waiting.map((one) => (
          <QueueEntry key={one.runId} conversation={conversation} queued={one} />
        ))}
      </ol>
    </section>
  );
}

function formatQueueTitle(count: number, held: number): string {
  if (held > 0) return `${held === 1 ? "1 message" : `${held} messages`} on hold since you stopped`;
  return `${count} queued`;
}

function QueueEntry({ conversation, queued }: { conversation: Conversation; queued: QueuedMessage }) {
  const [edited, setEdited] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const ids = { pid: conversation.pid, runId: queued.runId };
  const change = async (work: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await work();
      setEdited(null);
    } catch (error) {
      showNotice(describeError(error), "bad");
    } finally {
      setBusy(false);
      void conversation.queue.refetch();
    }
  };
  const files = queued.media?.length ?? 0;
  const unsaved = useRef<string | null>(null);
  unsaved.current = edited === queued.text || isBusy ? null : edited;
  useEffect(
    () => () => {
      // Warn only if the message was delivered meanwhile, not if the user has left the page.
      const isWaiting = (conversation.queue.value.peek() ?? []).some(({ runId }) => runId === queued.runId);
      const text = unsaved.current;
      if (text === null || isWaiting) return;
      const copy = { title: "Copy my change", run: () => void copyText(text) };
      showNotice("The message was sent before your change was saved", "bad", copy);
    },
    [],
  );
  if (edited !== null)
    return (
      <li class="queue-item queue-editing">
        <TextArea label="Queued message" value={edited} onValue={setEdited} takesFocus />
        <div class="row">
          <Button
            look="primary"
            busy={isBusy}
            disabled={edited.trim() === ""}
            onClick={() => void change(() => call("proc.queue.edit", { ...ids, message: edited.trim() }))}
          >
            Save
          </Button>
          <Button look="quiet" onClick={() => setEdited(null)}>
            Cancel
          </Button>
        </div>
      </li>
    );
  return (
    <li class="queue-item">
      <span class="queue-text">
        {queued.text}
        {files > 0 && <span class="soft">{files === 1 ? " with a file" : ` with ${files} files`}</span>}
      </span>
      {queued.role === "user" && <IconButton icon="edit" label="Edit this message" onClick={() => setEdited(queued.text)} />}
      <IconButton
        icon="close"
        label="Remove this message"
        disabled={isBusy}
        onClick={() => void change(() => call("proc.queue.withdraw", ids))}
      />
    </li>
  );
}
