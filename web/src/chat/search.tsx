// Searching what was said, here or in all conversations of the agent.

import { Fragment } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { call, describeError, type Result } from "../state/call.ts";
import type { Conversation } from "../state/conversation.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Checkbox } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { Time } from "../ui/time.tsx";
import { jump, openConversation } from "./conversation-links.ts";
import "./search.css";

type Found = Result<"proc.history.search">;
type Match = Found["matches"][number];

/** Typing goes on meanwhile. */
const PAUSE_MS = 200;
const WHO: Record<Match["role"], string> = { user: "You", assistant: "Agent", system: "System", toolResult: "Result of a tool" };

export function Search({ conversation, onClose }: { conversation: Conversation; onClose: () => void }) {
  const [query, setQuery] = useState("");
  const [isAll, setAll] = useState(false);
  const [found, setFound] = useState<Found | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const words = query.trim();
  useLayoutEffect(() => field.current?.focus(), []);
  useEffect(() => {
    setProblem(null);
    if (words === "") return setFound(null);
    let isWanted = true;
    const timer = setTimeout(() => {
      const where = isAll ? {} : { conversationId: conversation.id };
      call("proc.history.search", { pid: conversation.pid, query: words, limit: 50, ...where }).then(
        (result) => isWanted && setFound(result),
        (error: unknown) => isWanted && setProblem(describeError(error)),
      );
    }, PAUSE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [words, isAll]);
  const show = ({ conversationId, messageId, offset }: Match) => {
    // What was archived lies behind the mark at the beginning.
    const to = offset === null ? { messageId: null, place: 0 } : { messageId, place: offset };
    jump.value = { pid: conversation.pid, conversationId, ...to };
    onClose();
    if (conversationId !== conversation.id) openConversation(conversation.pid, conversationId);
  };
  return (
    <Dialog title="Search" onClose={onClose}>
      <div class="stack">
        <TextInput label="Words" type="search" value={query} onValue={setQuery} inputRef={field} error={problem} maxLength={200} />
        <Checkbox label="In all conversations of this agent" checked={isAll} onChecked={setAll} />
        <p class="unseen" role="status">
          {found === null ? "" : `${found.matches.length} found`}
        </p>
        {found !== null && found.matches.length === 0 && <p class="soft">Nothing was found. Try fewer words.</p>}
        <ul class="search-list">
          {found?.matches.map((match) => (
            <li key={`${match.segmentId ?? ""}${match.messageId}`}>
              <button type="button" class="search-match" onClick={() => show(match)}>
                <span class="search-who">
                  {WHO[match.role]} · <Time at={match.timestamp} />
                  {match.segmentId !== null && " · archived"}
                </span>
                <span class="search-snippet">{marked(match.snippet, words)}</span>
              </button>
            </li>
          ))}
        </ul>
        {found?.isWhole === false && <p class="soft small">There may be more: search for more exact words.</p>}
      </div>
    </Dialog>
  );
}

function marked(snippet: string, words: string) {
  const at = snippet.toLowerCase().indexOf(words.toLowerCase());
  if (at === -1) return snippet;
  return (
    <Fragment>
      {snippet.slice(0, at)}
      <mark>{snippet.slice(at, at + words.length)}</mark>
      {snippet.slice(at + words.length)}
    </Fragment>
  );
}
