// Find: conversations, messages, machines, files, settings and actions by their words. Arrow keys select, Enter opens, Escape closes.
// What has a name is found at once; messages and files are searched when the user pauses typing.

import { Fragment } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { actions } from "../frame/actions.ts";
import { KeyCaps } from "../frame/key-caps.tsx";
import { overlay } from "../frame/overlay.ts";
import type { Agent } from "../state/agents.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { type Entry, entryOfAction, readAgents, readEntries } from "./entries.ts";
import { FilePreview } from "./file-preview.tsx";
import { Marked } from "./marked.tsx";
import { matchEntries } from "./match-entries.ts";
import { QUERY_CHARS_MIN, searchFiles, searchMessages } from "./search-texts.ts";
import "./find.css";

const DEBOUNCE_MS = 250;
/** Shown of each group; more words find the others. */
const GROUP_MAX = 6;
const ACTIONS_MAX = 20;
/** Conversations that are offered before anything is typed. */
const RECENT_MAX = 4;

export default function Find() {
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const { agents, named } = useNamedEntries();
  const { texts, isSearching } = useTextSearch(agents, typed.trim());
  const found = useMemo(() => arrange([...actions.value.map(entryOfAction), ...named], texts, typed), [actions.value, named, texts, typed]);
  const at = Math.min(chosen, found.length - 1);
  /** The path of the file that is shown instead of the results. */
  const [file, setFile] = useState<string | null>(null);
  useLayoutEffect(() => input.current?.focus(), [file]);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [at, typed]);

  const close = () => {
    overlay.value = null;
  };
  const open = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    if (entry.file !== undefined) return setFile(entry.file);
    close();
    // After the dialog has restored the focus, so that the action can move it.
    setTimeout(() => entry.open?.());
  };
  const handleKeydown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) setChosen((at + step + found.length) % found.length);
    else if (event.key === "Enter") open(found[at]);
    else return;
    event.preventDefault();
  };

  if (file !== null) return <FilePreview path={file} onClose={() => setFile(null)} />;
  return (
    <Dialog title="Find" bare onClose={close}>
      <div class="find-field">
        <Icon name="search" />
        <input
          ref={input}
          class="find-input"
          type="text"
          role="combobox"
          aria-label="Find"
          aria-expanded="true"
          aria-controls="find-list"
          aria-activedescendant={at >= 0 ? `find-${at}` : undefined}
          aria-autocomplete="list"
          autocomplete="off"
          spellcheck={false}
          maxLength={200}
          placeholder="Find messages, machines, settings, actions…"
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={handleKeydown}
        />
      </div>
      <ul class="find-list" id="find-list" role="listbox" aria-label="Results" aria-busy={isSearching} ref={list}>
        {found.map((entry, index) => (
          <Fragment key={entry.id}>
            {entry.group !== found[index - 1]?.group && (
              <li class="find-group" role="presentation">
                {entry.group}
              </li>
            )}
            <Result
              entry={entry}
              typed={typed}
              index={index}
              isChosen={index === at}
              onChoose={() => setChosen(index)}
              onOpen={() => open(entry)}
            />
          </Fragment>
        ))}
      </ul>
      <p class="find-note" role="status">
        {isSearching ? "Searching messages and files…" : found.length === 0 ? "No results" : ""}
      </p>
    </Dialog>
  );
}

type ResultProps = {
  entry: Entry;
  typed: string;
  index: number;
  isChosen: boolean;
  onChoose: () => void;
  onOpen: () => void;
};

function Result({ entry, typed, index, isChosen, onChoose, onOpen }: ResultProps) {
  const { title, icon, hint, excerpt, keys } = entry;
  return (
    <li
      id={`find-${index}`}
      class="find-result"
      role="option"
      aria-selected={isChosen ? "true" : "false"}
      onPointerMove={onChoose}
      onClick={onOpen}
    >
      <Icon name={icon} />
      <span class="find-words">
        <span class="find-line">
          <span class="find-title">
            <Marked text={title} words={typed} />
          </span>
          {hint !== undefined && <span class="find-hint">{hint}</span>}
        </span>
        {excerpt !== undefined && (
          <span class="find-excerpt">
            <Marked text={excerpt} words={typed} />
          </span>
        )}
      </span>
      {keys !== undefined && <KeyCaps keys={keys} />}
    </li>
  );
}

/** Before anything is typed: the newest conversations, then actions. */
function arrange(named: readonly Entry[], texts: readonly Entry[], typed: string): Entry[] {
  if (typed.trim() === "") {
    const recent = named.filter(({ group }) => group === "Conversations").slice(0, RECENT_MAX);
    return [...recent, ...named.filter(({ group }) => group === "Actions")];
  }
  const matches = [...matchEntries(named, typed), ...texts];
  const groups = [...new Set(matches.map(({ group }) => group))];
  return groups.flatMap((group) => matches.filter((one) => one.group === group).slice(0, group === "Actions" ? ACTIONS_MAX : GROUP_MAX));
}

function useNamedEntries(): { agents: readonly Agent[]; named: readonly Entry[] } {
  const [state, setState] = useState<{ agents: readonly Agent[]; named: readonly Entry[] }>({ agents: [], named: [] });
  useEffect(() => {
    let isMounted = true;
    const read = async () => {
      const agents = await readAgents().catch(() => []);
      const named = await readEntries(agents);
      if (isMounted) setState({ agents, named });
    };
    void read();
    return () => {
      isMounted = false;
    };
  }, []);
  return state;
}

/** What was found before stays until something else is found, unless the words are too short. */
function useTextSearch(agents: readonly Agent[], query: string): { texts: readonly Entry[]; isSearching: boolean } {
  const [texts, setTexts] = useState<readonly Entry[]>([]);
  const [isSearching, setSearching] = useState(false);
  useEffect(() => {
    const isLongEnough = query.length >= QUERY_CHARS_MIN;
    setSearching(isLongEnough);
    if (!isLongEnough) return setTexts([]);
    let isCurrent = true;
    const search = async () => {
      const found = await Promise.allSettled([searchMessages(agents, query), searchFiles(query)]);
      if (!isCurrent) return;
      setTexts(found.flatMap((part) => (part.status === "fulfilled" ? part.value : [])));
      setSearching(false);
    };
    const timer = setTimeout(() => void search(), DEBOUNCE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [query, agents]);
  return { texts, isSearching };
}
