// The navigation bar: on the left of a wide screen, with the user, theme and logout at its end; at the bottom of a phone.

import { SCREENS, screenAt } from "../screens/screens.ts";
import { logOut, username } from "../state/session.ts";
import { type Theme, theme } from "../state/theme.ts";
import { IconButton } from "../ui/button.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { badges } from "./badges.ts";
import { KeyCaps } from "./key-caps.tsx";
import { Link } from "./link.tsx";
import { Logo } from "./logo.tsx";
import { overlay } from "./overlay.ts";
import { activePane, address, splitPath } from "./route.ts";
import "./bar.css";

const NEXT_THEME: Record<Theme, { to: Theme; icon: IconName; label: string }> = {
  system: { to: "light", icon: "system", label: "Theme: as the system. Change to light" },
  light: { to: "dark", icon: "sun", label: "Theme: light. Change to dark" },
  dark: { to: "system", icon: "moon", label: "Theme: dark. Change to the system's" },
};

export function Bar() {
  const { main, beside } = address.value;
  const shownScreen = screenAt(splitPath(activePane.value === "main" ? main : (beside ?? main)))?.id;
  const { to, icon, label } = NEXT_THEME[theme.value];
  return (
    <nav class="bar" aria-label="Screens">
      <div class="bar-brand">
        <Logo />
        <span class="bar-name">GSV</span>
      </div>
      <button type="button" class="bar-find" onClick={() => (overlay.value = "palette")} title="Find an action">
        <Icon name="search" />
        <span class="bar-word">
          Find<span class="unseen"> an action</span>
        </span>
        <span class="bar-keys" aria-hidden="true">
          <KeyCaps keys="mod+k" />
        </span>
      </button>
      <ul class="bar-places">
        {SCREENS.filter(({ inBar }) => inBar).map(({ id, path, title, icon }) => (
          <li key={id}>
            <Link
              class="bar-place"
              to={`/${path}`}
              pane={activePane.value}
              aria-current={id === shownScreen ? "page" : undefined}
              title={title}
            >
              <Icon name={icon} />
              <span class="bar-word">{title}</span>
              <WaitingCount of={id} />
            </Link>
          </li>
        ))}
      </ul>
      <div class="bar-foot">
        <span class="bar-person" title={`Logged in as ${username.value}`}>
          <Icon name="person" />
          <span class="bar-word">{username.value}</span>
        </span>
        <IconButton icon={icon} label={label} onClick={() => (theme.value = to)} />
        <IconButton icon="leave" label="Log out" onClick={() => void logOut()} />
      </div>
    </nav>
  );
}

/** How many items of a screen need the user's attention. */
function WaitingCount({ of }: { of: string }) {
  const count = badges.value[of] ?? 0;
  if (count === 0) return null;
  return (
    <span class="bar-count">
      {count > 99 ? "99+" : count}
      <span class="unseen"> waiting</span>
    </span>
  );
}
