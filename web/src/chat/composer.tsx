// The message composer. Enter sends, Shift+Enter starts a new line; files are added by button, paste and drop. What is written is kept
// until it is sent: the text across reloads, files as long as the page is open.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { mayCall, username } from "../state/session.ts";
import { describeError } from "../state/call.ts";
import type { Conversation } from "../state/conversation.ts";
import type { SentMedia } from "../state/outbox.ts";
import { saveDraft, readDraft } from "../state/drafts.ts";
import { randomUuid } from "../state/random-uuid.ts";
import { Banner } from "../ui/banner.tsx";
import { IconButton } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { addFiles, type Attachment, keepAttachments, getAttachments, readAsMedia, releasePreview } from "./attachments.ts";
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
  const [draft, setDraft] = useState(() => readDraft(username.peek(), pid, id));
  const [files, setFiles] = useState(() => getAttachments(pid, id));
  const [problem, setProblem] = useState<string | null>(null);
  const [isDragging, setDragging] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const fileInput = useRef<HTMLInputElement>(null);
  const isReadingFiles = useRef(false);
  const written = useRef(draft);
  written.current = draft;
  const run = conversation.run.value;
  const isEmpty = draft.trim() === "" && files.length === 0;

  const changeDraft = (next: string) => {
    setDraft(next);
    saveDraft(username.peek(), pid, id, next);
  };
  useEffect(() => {
    handle.current = {
      fill: (text) => {
        changeDraft(text);
        field.current?.focus();
      },
    };
    return () => {
      handle.current = null;
    };
  });
  const changeFiles = (next: readonly Attachment[]) => {
    setFiles(next);
    keepAttachments(pid, id, next);
  };
  const addAttachments = (added: Iterable<File>) => {
    const { all, problem } = addFiles(files, added);
    changeFiles(all);
    setProblem(problem);
  };
  const removeAttachment = (removed: Attachment) => {
    releasePreview(removed);
    changeFiles(files.filter((one) => one !== removed));
    field.current?.focus();
  };
  const send = async () => {
    if (isEmpty || isClosed || isReadingFiles.current) return;
    setProblem(null);
    const message = { runId: randomUuid(), text: draft.trim(), media: [] as SentMedia[], settings: {} };
    if (files.length > 0) {
      isReadingFiles.current = true;
      try {
        message.media = await Promise.all(files.map(readAsMedia));
      } catch (error) {
        return setProblem(describeError(error));
      } finally {
        isReadingFiles.current = false;
      }
    }
    onSend(message.text);
    void conversation.send(message);
    for (const one of files) releasePreview(one);
    changeFiles(getAttachments(pid, id).filter((one) => !files.includes(one)));
    // What was written while the files were read stays.
    if (written.current === draft) changeDraft("");
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
  }, [draft]);
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
          value={draft}
          onInput={(event) => changeDraft(event.currentTarget.value)}
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
