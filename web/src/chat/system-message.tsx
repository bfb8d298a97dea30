// A system message: the marker of archived messages, which opens the archive in place; why a run failed, with advice; or a note
// that the agent received.

import { useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { Archive } from "./archive.tsx";
import { parseText } from "./message-content.ts";
import type { MessageProps } from "./message.tsx";
import { RunFailure } from "./run-failure.tsx";

const FAILED = /^(?:Generation failed|The run was ended)/;
const SHORT_CHARS = 400;

/** `before`: the segment whose archive contains this message; a marker inside it belongs to an older segment. */
export function SystemMessage({ conversation, message, actions, before = null }: MessageProps & { before?: string | null }) {
  const text = parseText(message.content);
  const segments = conversation.segments.value.value ?? [];
  const olderSegments =
    before === null
      ? segments
      : segments.slice(
          0,
          segments.findIndex(({ id }) => id === before),
        );
  const segment = olderSegments.findLast(({ summaryMessageId }) => summaryMessageId === message.id) ?? null;
  if (segment !== null) return <Archive conversation={conversation} segment={segment} text={text} />;
  if (FAILED.test(text)) return <RunFailure conversation={conversation} message={message} text={text} onRetry={actions?.retry} />;
  return <Note text={text} />;
}

function Note({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > SHORT_CHARS;
  return (
    <article class="message message-system" aria-label="System">
      <p>{isLong && !isWhole ? `${text.slice(0, SHORT_CHARS)}…` : text}</p>
      {isLong && (
        <Button look="quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show less" : "Show all of it"}
        </Button>
      )}
    </article>
  );
}
