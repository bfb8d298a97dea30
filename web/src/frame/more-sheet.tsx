// What does not fit into the bar of a phone: the other screens, the theme, and signing out.

import { SCREENS } from "../screens/screens.ts";
import { logOut, username } from "../state/session.ts";
import { type Theme, theme } from "../state/theme.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { badges } from "./badges.ts";
import { overlay } from "./overlay.ts";
import { go } from "./route.ts";
import "./more-sheet.css";

const THEMES: readonly { to: Theme; title: string; icon: IconName }[] = [
  { to: "light", title: "Light", icon: "sun" },
  { to: "dark", title: "Dark", icon: "moon" },
  { to: "system", title: "System", icon: "system" },
];

export default function MoreSheet() {
  const close = () => {
    overlay.value = null;
  };
  return (
    <Dialog title="More" onClose={close}>
      <div class="more">
        <ul class="more-places">
          {SCREENS.filter(({ inBar, isFirst = false }) => inBar && !isFirst).map(({ id, path, title, icon }) => (
            <li key={id}>
              <button
                type="button"
                class="more-place"
                onClick={() => {
                  close();
                  go(`/${path}`);
                }}
              >
                <Icon name={icon} />
                <span>{title}</span>
                {(badges.value[id] ?? 0) > 0 && (
                  <span class="bar-count">
                    {badges.value[id]}
                    <span class="unseen"> waiting</span>
                  </span>
                )}
              </button>
            </li>
          ))}
        </ul>
        <fieldset class="more-themes">
          <legend>Theme</legend>
          {THEMES.map(({ to, title, icon }) => (
            <button type="button" key={to} class="more-theme" aria-pressed={theme.value === to} onClick={() => (theme.value = to)}>
              <Icon name={icon} />
              {title}
            </button>
          ))}
        </fieldset>
        <button type="button" class="more-place" onClick={() => void logOut()}>
          <Icon name="leave" />
          <span>Sign out ({username.value})</span>
        </button>
      </div>
    </Dialog>
  );
}
