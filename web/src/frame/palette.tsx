// The command palette: finds actions by text. Arrow keys select, Enter runs, Escape closes.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { type Action, actions } from "./actions.ts";
import { KeyCaps } from "./key-caps.tsx";
import { matchActions } from "./match-actions.ts";
import { overlay } from "./overlay.ts";
import "./palette.css";

export function Palette() {
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const matches = matchActions(actions.value, typed);
  const at = Math.min(chosen, matches.length - 1);
  useLayoutEffect(() => input.current?.focus(), []);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [at, typed]);

  const close = () => {
    overlay.value = null;
  };
  const run = (action: Action | undefined) => {
    if (action === undefined) return;
    close();
    // After the dialog has restored the focus, so that the action can move it.
    setTimeout(() => action.run());
  };
  const handleKeydown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && matches.length > 0) setChosen((at + step + matches.length) % matches.length);
    else if (event.key === "Enter") run(matches[at]);
    else return;
    event.preventDefault();
  };

  return (
    <Dialog title="Find an action" bare onClose={close}>
      <div class="palette-find">
        <Icon name="search" />
        <input
          ref={input}
          class="palette-input"
          type="text"
          role="combobox"
          aria-label="Find an action"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={at >= 0 ? `palette-${at}` : undefined}
          aria-autocomplete="list"
          autocomplete="off"
          spellcheck={false}
          placeholder="What do you want to do?"
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={handleKeydown}
        />
      </div>
      <ul class="palette-list" id="palette-list" role="listbox" aria-label="Actions" ref={list}>
        {matches.map((action, index) => (
          <li
            key={action.id}
            id={`palette-${index}`}
            class="palette-item"
            role="option"
            aria-selected={index === at ? "true" : "false"}
            onPointerMove={() => setChosen(index)}
            onClick={() => run(action)}
          >
            <span class="palette-title">{action.title}</span>
            {!action.title.startsWith(action.group) && <span class="palette-group">{action.group}</span>}
            {action.keys !== undefined && <KeyCaps keys={action.keys} />}
          </li>
        ))}
      </ul>
      <p class="palette-none" role="status">
        {matches.length === 0 ? "Nothing is called that" : ""}
      </p>
    </Dialog>
  );
}
