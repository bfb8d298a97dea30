// The navigation bar: on the left of a wide screen, with the user, theme and sign-out at its end; at the bottom of a phone,
// where what does not fit is behind More.

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
  const shownScreen = screenAt(splitPath(activePane.value === "main" ? main : (beside ?? main)));
  const { to, icon, label } = NEXT_THEME[theme.value];
  const isBehindMore = shownScreen !== null && shownScreen.isFirst !== true;
  return (
    <nav class="bar" aria-label="Screens">
      <div class="bar-brand">
        <Logo />
        <span class="bar-name">GSV</span>
      </div>
      <button type="button" class="bar-find" onClick={() => (overlay.value = "find")} title="Find">
        <Icon name="search" />
        <span class="bar-word">Find</span>
        <span class="bar-keys" aria-hidden="true">
          <KeyCaps keys="mod+k" />
        </span>
      </button>
      <ul class="bar-places">
        {SCREENS.filter(({ inBar }) => inBar).map(({ id, path, title, icon, isFirst = false }) => (
          <li key={id} class={isFirst ? undefined : "bar-later"}>
            <Link
              class="bar-place"
              to={`/${path}`}
              pane={activePane.value}
              aria-current={id === shownScreen?.id ? "page" : undefined}
              title={title}
            >
              <Icon name={icon} />
              <span class="bar-word">{title}</span>
              <WaitingCount count={badges.value[id] ?? 0} />
            </Link>
          </li>
        ))}
        <li class="bar-more">
          <button type="button" class="bar-place" aria-current={isBehindMore ? "true" : undefined} onClick={() => (overlay.value = "more")}>
            <Icon name="more" />
            <span class="bar-word">More</span>
            <WaitingCount count={SCREENS.reduce((sum, { id, isFirst = false }) => sum + (isFirst ? 0 : (badges.value[id] ?? 0)), 0)} />
          </button>
        </li>
      </ul>
      <div class="bar-foot">
        <span class="bar-person" title={`Signed in as ${username.value}`}>
          <span class="bar-face" aria-hidden="true">
            {username.value.slice(0, 1).toUpperCase()}
          </span>
          <span class="bar-word">{username.value}</span>
        </span>
        <IconButton icon={icon} label={label} onClick={() => (theme.value = to)} />
        <IconButton icon="leave" label="Sign out" onClick={() => void logOut()} />
      </div>
    </nav>
  );
}

/** How many items need the user's attention. */
function WaitingCount({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <span class="bar-count">
      {count > 99 ? "99+" : count}
      <span class="unseen"> waiting</span>
    </span>
  );
}
