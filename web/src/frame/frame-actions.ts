// The actions that are available on every screen.

import { SCREENS } from "../screens/screens.ts";
import { showStart } from "../state/arrival.ts";
import { logOut } from "../state/session.ts";
import { type Theme, theme } from "../state/theme.ts";
import type { Action } from "./actions.ts";
import { overlay } from "./overlay.ts";
import { focusOtherPane } from "./focus-other-pane.ts";
import { activePane, closePane, go, swapPanes } from "./route.ts";

export function makeFrameActions(): Action[] {
  return [
    ...SCREENS.map(({ id, path, title, key }) => ({
      id: `go.${id}`,
      title: `Go to ${title}`,
      group: "Go to",
      ...(key === null ? {} : { keys: `g ${key}` }),
      run: () => go(`/${path}`),
    })),
    {
      id: "go.notifications.settings",
      title: "Notification settings",
      group: "Go to",
      words: "push messages phone interrupt",
      run: () => go("/settings/notifications"),
    },
    { id: "find", title: "Find anything", group: "General", keys: "mod+k", run: () => toggleOverlay("find") },
    { id: "help", title: "Show the keys", group: "General", keys: "?", words: "help shortcuts keyboard", run: () => toggleOverlay("help") },
    makeThemeAction("light", "Use the light theme"),
    makeThemeAction("dark", "Use the dark theme"),
    makeThemeAction("system", "Use the theme of the system"),
    { id: "start", title: "First steps", group: "General", words: "welcome get started help tour", run: showStart },
    { id: "sign-in", title: "Sign in on a phone…", group: "General", words: "qr code device", run: () => toggleOverlay("sign-in") },
    { id: "logout", title: "Sign out", group: "General", words: "log out leave", run: () => void logOut() },
    ...SCREENS.filter(({ inBar }) => inBar).map(({ id, path, title }) => ({
      id: `beside.${id}`,
      title: `Open ${title} beside`,
      group: "Panes",
      words: "split second pane side",
      run: () => go(`/${path}`, { pane: "beside" as const }),
    })),
    { id: "pane.close", title: "Close this pane", group: "Panes", keys: "x", run: () => closePane(activePane.peek()) },
    { id: "pane.swap", title: "Swap the panes", group: "Panes", run: swapPanes },
    { id: "pane.other", title: "Go to the other pane", group: "Panes", keys: "o", run: focusOtherPane },
  ];
}

function toggleOverlay(what: "find" | "help" | "sign-in"): void {
  overlay.value = overlay.peek() === what ? null : what;
}

function makeThemeAction(to: Theme, title: string): Action {
  return {
    id: `theme.${to}`,
    title,
    group: "General",
    words: "colour appearance mode",
    run: () => {
      theme.value = to;
    },
  };
}
