// The navigation of Settings: its pages by group, and a field that finds single settings. On a phone it is a page of its own.

import { useState } from "preact/hooks";
import { Link } from "../frame/link.tsx";
import { joinPath } from "../frame/route.ts";
import { session } from "../state/session.ts";
import { Icon } from "../ui/icon.tsx";
import { unsavedPages } from "./kept-draft.ts";
import { listPages, listSettings, type SettingsPage } from "./settings-index.ts";

const GROUPS: readonly SettingsPage["group"][] = ["Agents", "Gateway", "You"];

export function SettingsNav({ current }: { current: string | null }) {
  const [typed, setTyped] = useState("");
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const pages = listPages();
  const isRoot = session.value?.identity.process.uid === 0;
  return (
    <nav class="settings-nav" aria-label="Settings">
      <div class="settings-find">
        <Icon name="search" />
        <input
          class="control"
          type="search"
          aria-label="Find a setting"
          placeholder="Find a setting"
          autocomplete="off"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </div>
      {words.length > 0 ? (
        <Matches words={words} onOpen={() => setTyped("")} />
      ) : (
        GROUPS.map((group) => {
          const shown = pages.filter((page) => page.group === group);
          return (
            shown.length > 0 && (
              <div class="settings-group" key={group}>
                <h2 class="settings-group-name">{group}</h2>
                <ul>
                  {shown.map(({ id, title, text, icon }) => (
                    <li key={id}>
                      <Link class="settings-page" to={joinPath("settings", id)} aria-current={id === current ? "page" : undefined}>
                        <Icon name={icon} />
                        <span class="settings-page-words">
                          <span>{title}</span>
                          <span class="settings-page-text">{text}</span>
                          {unsavedPages.value.has(id) && <span class="small settings-unsaved">Changes not saved yet</span>}
                        </span>
                      </Link>
                    </li>
                  ))}
                </ul>
              </div>
            )
          );
        })
      )}
      {words.length === 0 && !isRoot && (
        <p class="soft small settings-note">People, network and settings for everyone belong to the administrator, root.</p>
      )}
    </nav>
  );
}

function Matches({ words, onOpen }: { words: readonly string[]; onOpen: () => void }) {
  const found = listSettings().filter((setting) => {
    const text = `${setting.title} ${setting.words}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <>
      <p class="soft small settings-found" role="status">
        {found.length === 0 ? "No results" : found.length === 1 ? "1 setting" : `${found.length} settings`}
      </p>
      <ul onClick={onOpen}>
        {found.map(({ title, group, path }) => (
          <li key={path}>
            <Link class="settings-page" to={path}>
              <span class="settings-page-words">
                <span>{title}</span>
                <span class="settings-match-group">{group}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
