// Keyboard shortcuts of actions. A key without Ctrl, Alt or Cmd is ignored while the user types. "g c" means g, then c; "mod" is
// Cmd on a Mac and Ctrl elsewhere; "ctrl" and "meta" are the other one of the two.

import { actions } from "./actions.ts";

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
/** How long the first key of a sequence waits for the second. */
const SEQUENCE_MS = 1_500;

let firstKey: { key: string; at: number } | null = null;

export function listenForKeys(): () => void {
  addEventListener("keydown", handleKeydown);
  return () => removeEventListener("keydown", handleKeydown);
}

/** The labels on this machine's keyboard, one for each key to press. */
export function keyNames(keys: string): string[] {
  return keys.split(" ").flatMap((key, at) => [...(at === 0 ? [] : ["then"]), ...key.split("+").map(keyName)]);
}

function keyName(part: string): string {
  const names: Record<string, string> = {
    mod: IS_MAC ? "⌘" : "Ctrl",
    shift: IS_MAC ? "⇧" : "Shift",
    alt: IS_MAC ? "⌥" : "Alt",
    escape: "Esc",
    enter: "Enter",
    arrowleft: "←",
    arrowright: "→",
  };
  return names[part] ?? part.toUpperCase();
}

function handleKeydown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.repeat) return;
  const key = keySpecOf(event);
  if (key === null) return;
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (isPlain && (isTyping(event.target) || document.querySelector("dialog[open]") !== null)) return;
  const now = Date.now();
  const sequence = firstKey !== null && now - firstKey.at < SEQUENCE_MS ? `${firstKey.key} ${key}` : null;
  firstKey = null;
  const registered = actions.peek();
  // The second key of a sequence is not that key alone, which may answer a question.
  const action = registered.find(({ keys }) => keys !== undefined && keys === sequence) ?? registered.find(({ keys }) => keys === key);
  if (action !== undefined) {
    event.preventDefault();
    action.run(event);
  } else if (registered.some(({ keys }) => keys?.startsWith(`${key} `))) {
    firstKey = { key, at: now };
  }
}

/** In the notation of Action.keys; null for modifier keys. */
function keySpecOf(event: KeyboardEvent): string | null {
  const key = event.key.toLowerCase();
  if (["control", "shift", "alt", "meta", "dead", "altgraph"].includes(key)) return null;
  const { ctrlKey, metaKey } = event;
  // The other one counts too: Ctrl+N moves the cursor on a Mac, and is not the key n.
  const modifiers = IS_MAC ? { mod: metaKey, ctrl: ctrlKey } : { mod: ctrlKey, meta: metaKey };
  const held = Object.entries(modifiers).flatMap(([name, isHeld]) => (isHeld ? [name] : []));
  // Shift is left out for punctuation: whether a character such as ? needs it depends on the keyboard layout.
  const shift = event.shiftKey && (key.length > 1 || /[a-z]/.test(key));
  return [...held, ...(event.altKey ? ["alt"] : []), ...(shift ? ["shift"] : []), key].join("+");
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button])");
}
