// A keyboard shortcut as key caps. The style sheet hides it on touch screens.

import { keyNames } from "./keyboard.ts";
import "./key-caps.css";

export function KeyCaps({ keys }: { keys: string }) {
  return (
    <span class="key-caps">
      {keyNames(keys).map((name, at) => (name === "then" ? <span key={at}>then</span> : <kbd key={at}>{name}</kbd>))}
    </span>
  );
}
