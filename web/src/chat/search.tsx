// The search dialog, for one conversation or all conversations of the agent.

import { Fragment } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { call, describeError, type Result } from "../state/call.ts";
import type { Conversation } from "../state/conversation.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Checkbox } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { Time } from "../ui/time.tsx";
import { pendingJump, openConversation } from "./conversation-links.ts";
import "./search.css";

type SearchResult = Result<"proc.history.search">;
type Match = SearchResult["matches"][number];

/** The search starts when the user pauses typing. */
const DEBOUNCE_MS = 200;
const ROLE_NAMES: Record<Match["role"], string> = { user: "You", assistant: "Agent", system: "System", toolResult: "Result of a tool" };

export function Search({ conversation, onClose }: { conversation: Conversation; onClose: () => void }) {
  const [query, setQuery] = useState("");
  const [isAll, setAll] = useState(false);
  const [found, setFound] = useState<SearchResult | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const words = query.trim();
  useLayoutEffect(() => field.current?.focus(), []);
  useEffect(() => {
    setProblem(null);
    if (words === "") return setFound(null);
    let isCurrent = true;
    const timer = setTimeout(() => {
      const where = isAll ? {} : { conversationId: conversation.id };
      call("proc.history.search", { pid: conversation.pid, query: words, limit: 50, ...where }).then(
        (result) => isCurrent && setFound(result),
        (error: unknown) => isCurrent && setProblem(describeError(error)),
      );
    }, DEBOUNCE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [words, isAll]);
  const openMatch = ({ conversationId, messageId, offset }: Match) => {
    // An archived message has no position: show the start of the conversation, where the marker of the archive is.
    const to = offset === null ? { messageId: null, position: 0 } : { messageId, position: offset };
    pendingJump.value = { pid: conversation.pid, conversationId, ...to };
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
              <button type="button" class="search-match" onClick={() => openMatch(match)}>
                <span class="search-who">
                  {ROLE_NAMES[match.role]} · <Time at={match.timestamp} />
                  {match.segmentId !== null && " · archived"}
                </span>
                <span class="search-snippet">{markMatch(match.snippet, words)}</span>
              </button>
            </li>
          ))}
        </ul>
        {found?.isWhole === false && <p class="soft small">There may be more: search for more exact words.</p>}
      </div>
    </Dialog>
  );
}

function markMatch(snippet: string, words: string) {
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
