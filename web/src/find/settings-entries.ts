// Every setting as an entry of Find.

import { go } from "../frame/route.ts";
import { listSettings } from "../settings/settings-index.ts";
import type { Entry } from "./entries.ts";

export function settingsEntries(): Entry[] {
  return listSettings().map(({ title, path, words, group }) => ({
    id: `setting ${path} ${title}`,
    title,
    group: "Settings",
    icon: "settings",
    hint: group,
    words,
    open: () => go(path),
  }));
}
