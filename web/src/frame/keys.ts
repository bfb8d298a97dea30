// Keys to actions. A key without Ctrl, Alt or Cmd does nothing while somebody types. "g c" is g, then c; "mod" is Cmd on a
// Mac and Ctrl elsewhere.

import { actions } from "./actions.ts";

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
/** How long a first key waits for the second. */
const SEQUENCE_MS = 1_500;

let first: { key: string; at: number } | null = null;

export function listenForKeys(): () => void {
  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}

/** As they are written on the keys of this machine, one part for each to press. */
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

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.repeat) return;
  const key = spelled(event);
  if (key === null) return;
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (isPlain && (isTyping(event.target) || document.querySelector("dialog[open]") !== null)) return;
  const now = Date.now();
  const before = first !== null && now - first.at < SEQUENCE_MS ? `${first.key} ${key}` : null;
  first = null;
  const all = actions.peek();
  const action = all.find(({ keys }) => keys !== undefined && (keys === before || keys === key));
  if (action !== undefined) {
    event.preventDefault();
    action.run();
  } else if (all.some(({ keys }) => keys?.startsWith(`${key} `))) {
    first = { key, at: now };
  }
}

/** Null for keys that only change others. */
function spelled(event: KeyboardEvent): string | null {
  const key = event.key.toLowerCase();
  if (["control", "shift", "alt", "meta", "dead", "altgraph"].includes(key)) return null;
  const mod = IS_MAC ? event.metaKey : event.ctrlKey;
  // A sign that needs Shift on some keyboards and not on others is known by itself.
  const shift = event.shiftKey && (key.length > 1 || /[a-z]/.test(key));
  return [...(mod ? ["mod"] : []), ...(event.altKey ? ["alt"] : []), ...(shift ? ["shift"] : []), key].join("+");
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button])");
}
