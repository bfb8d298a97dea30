// Display names of conversations.

import { makeVisible } from "../../../src/approval/visible.ts";
import { DEFAULT_CONVERSATION } from "./conversation-links.ts";

const TITLE_CHARS = 60;

export function conversationName({ id, title }: { id: string; title: string | null }): string {
  if (title !== null && title.trim() !== "") return makeVisible(title);
  if (id === DEFAULT_CONVERSATION) return "Main conversation";
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id) ? "New conversation" : id;
}

/** A title from the first message. */
export function makeTitle(text: string): string {
  const line = text.trim().split("\n")[0]!.trim();
  if (line.length <= TITLE_CHARS) return line;
  const cut = line.slice(0, TITLE_CHARS);
  return `${cut.slice(0, Math.max(20, cut.lastIndexOf(" "))).trim()}…`;
}
