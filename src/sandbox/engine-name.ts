// The name of the engine, by which a snapshot finds the one that took it. A snapshot is the engine's memory, so it fits no other engine and no
// other prelude.

import { PRELUDE } from "./prelude.ts";

/** The pinned version of quickjs-wasi; a test compares it with the installed one. */
export const QUICKJS_VERSION = "3.6.2";

/** `isMetered`: it counts its steps (limits.ts). */
export function engineName(isMetered: boolean): string {
  return `quickjs-wasi ${QUICKJS_VERSION}${isMetered ? " metered" : ""} ${hashText(PRELUDE)}`;
}

/** FNV-1a: names a text, protects nothing. */
function hashText(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
