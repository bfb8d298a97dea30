// Changes of settings that are not saved yet. They stay while other pages are shown, leaving their page says so, and the browser asks
// before it discards them. They are gone with the session, because they may contain a key.

import { effect, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { go, joinPath } from "../frame/route.ts";
import { showNotice } from "../state/notices.ts";
import { client, username } from "../state/session.ts";

export type DraftPlace = {
  /** The page of Settings, and its title. */
  page: string;
  title: string;
  /** Which draft of that page, such as the prefix of the settings. */
  part: string;
};
type Update<T> = (next: T | ((current: T) => T)) => void;

const drafts = new Map<string, unknown>();
/** The pages that have some. */
export const unsavedPages = signal<ReadonlySet<string>>(new Set());

/** Like useState. `isUnsaved` says whether a draft differs from what is stored: others are not kept. */
export function useKeptDraft<T>({ page, title, part }: DraftPlace, initial: T, isUnsaved: (draft: T) => boolean): [T, Update<T>] {
  const key = `${page} ${part}`;
  const [draft, setDraft] = useState<T>(() => (drafts.has(key) ? (drafts.get(key) as T) : initial));
  const hasChanges = isUnsaved(draft);
  const isLeftUnsaved = useRef(false);
  isLeftUnsaved.current = hasChanges;
  useEffect(() => {
    if (hasChanges) drafts.set(key, draft);
    else drafts.delete(key);
    showUnsavedPages();
  }, [key, draft, hasChanges]);
  useEffect(
    () => () => {
      if (!isLeftUnsaved.current || client.peek() === null) return;
      showNotice(`Your changes in Settings, ${title} are not saved yet.`, "plain", {
        title: "Review",
        run: () => go(joinPath("settings", page)),
      });
    },
    [key],
  );
  return [draft, setDraft];
}

function showUnsavedPages(): void {
  const pages = new Set([...drafts.keys()].map((key) => key.split(" ")[0]!));
  const shown = unsavedPages.peek();
  if (pages.size !== shown.size || [...pages].some((page) => !shown.has(page))) unsavedPages.value = pages;
}

addEventListener("beforeunload", (event) => {
  if (drafts.size > 0) event.preventDefault();
});

effect(() => {
  if (username.value !== "" && client.value !== null) return;
  drafts.clear();
  showUnsavedPages();
});
