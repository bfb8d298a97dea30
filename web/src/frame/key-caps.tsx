// Keys to press, as caps. Where there is no keyboard they say nothing to anybody, and are not shown.

import { keyNames } from "./keys.ts";
import "./key-caps.css";

export function KeyCaps({ keys }: { keys: string }) {
  return (
    <span class="key-caps">
      {keyNames(keys).map((name, at) => (name === "then" ? <span key={at}>then</span> : <kbd key={at}>{name}</kbd>))}
    </span>
  );
}
