// The message composer. Enter sends, Shift+Enter starts a new line; files are added by button, paste and drop. The text is stored
// until the gateway has accepted it.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { mayCall, username } from "../state/session.ts";
import type { Conversation } from "../state/conversation.ts";
import { type Draft, saveDraft, readDraft, clearSentDraft } from "../state/drafts.ts";
import { Banner } from "../ui/banner.tsx";
import { IconButton } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { addFiles, type Attachment, releasePreview, readAsMedia } from "./attachments.ts";
import { ContextMeter } from "./context-meter.tsx";
import { formatSize } from "./media.tsx";
import { ModelPicker } from "./model-picker.tsx";
import { PosturePicker } from "./posture-picker.tsx";
import { stopRun } from "./stop-run.ts";
import "./composer.css";

/** `fill` replaces what is written, and puts the cursor behind it. */
export type ComposerHandle = { fill(text: string): void };
type ComposerProps = {
  conversation: Conversation;
  handle: { current: ComposerHandle | null };
  isClosed: boolean;
  onSend: (text: string) => void;
  onReopen: () => void;
};

export function Composer({ conversation, handle, isClosed, onSend, onReopen }: ComposerProps) {
  const { pid, id } = conversation;
  const [draft, setDraft] = useState<Draft>(() => readDraft(username.peek(), pid, id));
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [isDragging, setDragging] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const fileInput = useRef<HTMLInputElement>(null);
  const run = conversation.run.value;
  const isEmpty = draft.text.trim() === "" && files.length === 0;

  const changeDraft = (next: Draft) => {
    setDraft(next);
    saveDraft(username.peek(), pid, id, next);
  };
  useEffect(() => {
    handle.current = {
      fill: (text) => {
        changeDraft({ text, runId: null });
        field.current?.focus();
      },
    };
    return () => {
      handle.current = null;
    };
  });
  const addAttachments = (added: Iterable<File>) => {
    const { all, problem } = addFiles(files, added);
    setFiles(all);
    setProblem(problem);
  };
  const removeAttachment = (removed: Attachment) => {
    releasePreview(removed);
    setFiles(files.filter((one) => one !== removed));
    field.current?.focus();
  };
  const send = async () => {
    if (isEmpty || isClosed) return;
    const text = draft.text.trim();
    const runId = draft.runId ?? crypto.randomUUID();
    const sent = files;
    // Stored with its run id, so that after a reload at this moment it is still the same message.
    saveDraft(username.peek(), pid, id, { text: draft.text, runId });
    setDraft({ text: "", runId: null });
    setFiles([]);
    setProblem(null);
    onSend(text);
    const media = await Promise.all(sent.map(readAsMedia));
    for (const one of sent) releasePreview(one);
    const isAccepted = await conversation.send(runId, text, media);
    if (isAccepted) clearSentDraft(username.peek(), pid, id, runId);
  };
  const handleKeydown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      if (!event.repeat) void send();
    } else if (event.key === "Escape" && run !== null) {
      event.preventDefault();
      void stopRun(conversation);
    }
  };

  useLayoutEffect(() => {
    const { current } = field;
    if (current === null) return;
    current.style.height = "auto";
    current.style.height = `${current.scrollHeight + 2}px`;
  }, [draft.text]);
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) field.current?.focus({ preventScroll: true });
  }, []);

  if (isClosed)
    return (
      <div class="composer">
        <Banner actions={<IconButton icon="refresh" label="Open the conversation again" onClick={onReopen} />}>
          This conversation is closed. Open it again to go on.
        </Banner>
      </div>
    );
  return (
    <form
      class="composer"
      data-over={isDragging}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes("Files") !== true) return;
        event.preventDefault();
        setDragging(true);
      }}
      onDragLeave={() => setDragging(false)}
      onDrop={(event) => {
        event.preventDefault();
        setDragging(false);
        addAttachments(event.dataTransfer?.files ?? []);
      }}
    >
      {problem !== null && <Banner tone="warn">{problem}</Banner>}
      <div class="composer-box">
        {files.length > 0 && (
          <ul class="composer-files" aria-label="Files to be sent along">
            {files.map((one) => (
              <li key={one.id} class="composer-file">
                {one.preview !== null && <img src={one.preview} alt="" />}
                <span class="composer-file-name">{one.file.name}</span>
                <span class="soft small">{formatSize(one.file.size)}</span>
                <IconButton icon="close" label={`Leave out ${one.file.name}`} onClick={() => removeAttachment(one)} />
              </li>
            ))}
          </ul>
        )}
        <textarea
          ref={field}
          class="composer-field"
          rows={1}
          aria-label="Message"
          placeholder={run === null ? "Write a message" : "Queue a message…"}
          value={draft.text}
          onInput={(event) => changeDraft({ text: event.currentTarget.value, runId: null })}
          onKeyDown={handleKeydown}
          onPaste={(event) => {
            const pasted = [...(event.clipboardData?.files ?? [])];
            if (pasted.length === 0) return;
            event.preventDefault();
            addAttachments(pasted);
          }}
        />
        <div class="composer-row">
          <IconButton icon="attach" label="Add files" onClick={() => fileInput.current?.click()} />
          <input
            ref={fileInput}
            type="file"
            multiple
            hidden
            onChange={(event) => {
              addAttachments(event.currentTarget.files ?? []);
              event.currentTarget.value = "";
            }}
          />
          {mayCall("proc.settings.set") && <ModelPicker conversation={conversation} />}
          {mayCall("proc.settings.set") && <PosturePicker conversation={conversation} />}
          <span class="composer-space" />
          <ContextMeter conversation={conversation} />
          {run !== null && (
            <button
              type="button"
              class="composer-send composer-stop"
              aria-label="Stop (Esc)"
              title="Stop (Esc)"
              onClick={() => void stopRun(conversation)}
            >
              <Icon name="stop" />
            </button>
          )}
          {(run === null || !isEmpty) && (
            <button type="submit" class="composer-send" aria-label="Send" title="Send (Enter)" disabled={isEmpty}>
              <Icon name="send" />
            </button>
          )}
        </div>
      </div>
    </form>
  );
}
