// The palette: every action by typing some of its letters. Arrow keys choose, Enter does it, Escape puts it away.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { type Action, actions } from "./actions.ts";
import { KeyCaps } from "./key-caps.tsx";
import { matching } from "./matching.ts";
import { overlay } from "./overlay.ts";
import "./palette.css";

export function Palette() {
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const found = matching(actions.value, typed);
  const at = Math.min(chosen, found.length - 1);
  useLayoutEffect(() => input.current?.focus(), []);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [at, typed]);

  const close = () => {
    overlay.value = null;
  };
  const run = (action: Action | undefined) => {
    if (action === undefined) return;
    close();
    // After the dialog has given the focus back, so that the action may put it elsewhere.
    setTimeout(() => action.run());
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) setChosen((at + step + found.length) % found.length);
    else if (event.key === "Enter") run(found[at]);
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
          onKeyDown={press}
        />
      </div>
      <ul class="palette-list" id="palette-list" role="listbox" aria-label="Actions" ref={list}>
        {found.map((action, index) => (
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
        {found.length === 0 ? "Nothing is called that" : ""}
      </p>
    </Dialog>
  );
}
